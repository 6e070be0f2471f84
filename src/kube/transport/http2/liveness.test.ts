import { expect, test } from 'bun:test';
import { ManualClock } from '../../../clock/manual-clock.ts';
import { Liveness } from './liveness.ts';

/** Returns a connection and a log of its events. */
function connection() {
  const clock = new ManualClock();
  const log: string[] = [];
  const liveness = new Liveness(clock, {
    sendPing: () => log.push('ping'),
    failed: ({ message }) => log.push(message),
  });
  return { clock, liveness, log };
}

test('a handshake times out after ten seconds', () => {
  const { clock, log } = connection();

  clock.advance(9_999);
  expect(log).toEqual([]);
  clock.advance(1);
  expect(log).toEqual(['the handshake was not completed in time']);
});

test('an unused connection is closed after ten seconds', () => {
  const { clock, liveness, log } = connection();
  liveness.use(true);
  clock.advance(60_000);
  liveness.use(false);

  clock.advance(9_999);
  expect(log).toEqual([]);
  clock.advance(1);
  expect(log).toEqual(['idle']);
});

test('a server that was silent for 90 seconds gets a ping', () => {
  const { clock, liveness, log } = connection();
  liveness.use(true);
  clock.advance(60_000);
  liveness.heard();

  clock.advance(89_999);
  expect(log).toEqual([]);
  clock.advance(1);
  expect(log).toEqual(['ping']);
  expect(liveness.isDoubtful).toBe(false);

  expect(liveness.pinged()).toBe(false);
  liveness.heard();
  clock.advance(89_999);
  expect(log).toEqual(['ping']);
  clock.advance(1);
  expect(log).toEqual(['ping', 'ping']);
  clock.advance(5_000);
  expect(log).toEqual(['ping', 'ping', 'the server did not answer a ping']);
});

test('a silent server gets a ping despite many requests', () => {
  const { clock, liveness, log } = connection();
  liveness.use(true);
  for (let second = 1; second <= 90; second++) {
    liveness.use(true);
    clock.advance(1_000);
  }

  expect(log).toEqual(['ping']);
});

test('a server that did not answer a request gets a ping at once, and is in doubt until it answers', () => {
  const { clock, liveness, log } = connection();
  liveness.use(true);

  liveness.doubt();
  liveness.doubt();
  expect(log).toEqual(['ping']);
  expect(liveness.isDoubtful).toBe(true);
  clock.advance(4_999);

  expect(liveness.pinged()).toBe(true);
  expect(liveness.isDoubtful).toBe(false);
  clock.advance(5_000);
  expect(log).toEqual(['ping']);
});

test('the response to a ping may be queued behind a slow response', () => {
  const { clock, liveness, log } = connection();
  liveness.use(true);
  liveness.doubt();
  for (let second = 1; second <= 30; second++) {
    clock.advance(1_000);
    liveness.heard();
  }
  expect(log).toEqual(['ping']);

  clock.advance(5_000);
  clock.advance(5_000);
  expect(log).toEqual(['ping', 'the server did not answer a ping']);
});

test('the response to a ping may have arrived while the process was frozen', () => {
  const { clock, liveness, log } = connection();
  liveness.use(true);
  liveness.doubt();

  clock.advance(60_000);
  expect(log).toEqual(['ping']);
  liveness.heard();
  expect(liveness.pinged()).toBe(true);
  clock.advance(60_000);
  expect(log).toEqual(['ping']);
});

test('a server that does not answer after the process was frozen has five more seconds', () => {
  const { clock, liveness, log } = connection();
  liveness.use(true);
  liveness.doubt();
  clock.advance(60_000);

  clock.advance(4_999);
  expect(log).toEqual(['ping']);
  clock.advance(2_000);
  expect(log).toEqual(['ping', 'the server did not answer a ping']);
});

test('an unused connection is closed despite responses to pings that were never sent', () => {
  const { clock, liveness, log } = connection();
  liveness.use(true);
  liveness.use(false);
  clock.advance(9_000);

  expect(liveness.pinged()).toBe(false);
  clock.advance(1_000);
  expect(log).toEqual(['idle']);
});
