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

test('a handshake has ten seconds', () => {
  const { clock, log } = connection();

  clock.advance(9_999);
  expect(log).toEqual([]);
  clock.advance(1);
  expect(log).toEqual(['the handshake was not completed in time']);
});

test('a connection that is not used ends after ten seconds', () => {
  const { clock, liveness, log } = connection();
  liveness.use(true);
  clock.advance(60_000);
  liveness.use(false);

  clock.advance(9_999);
  expect(log).toEqual([]);
  clock.advance(1);
  expect(log).toEqual(['idle']);
});

test('a server that was silent for 90 seconds is asked whether it lives', () => {
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

test('many requests do not keep a silent server from being asked', () => {
  const { clock, liveness, log } = connection();
  liveness.use(true);
  for (let second = 1; second <= 90; second++) {
    liveness.use(true);
    clock.advance(1_000);
  }

  expect(log).toEqual(['ping']);
});

test('a server that did not answer a request is asked at once, and in doubt until it answers', () => {
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

test('the answer to a ping may be behind much that comes slowly', () => {
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

test('the answer to a ping may have arrived while the process was frozen', () => {
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

test('the answer to a ping that was never sent keeps no unused connection', () => {
  const { clock, liveness, log } = connection();
  liveness.use(true);
  liveness.use(false);
  clock.advance(9_000);

  expect(liveness.pinged()).toBe(false);
  clock.advance(1_000);
  expect(log).toEqual(['idle']);
});
