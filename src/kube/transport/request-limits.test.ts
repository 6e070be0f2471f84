import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { ManualClock } from '../../clock/manual-clock.ts';
import { until } from '../../net/testing/peer.ts';
import { errorOf, TransportLab, VERSION } from './testing/lab.ts';

let lab: TransportLab;

beforeEach(async () => {
  lab = await TransportLab.open();
});

afterEach(async () => lab[Symbol.asyncDispose]());

describe('a request ends', () => {
  test('in time if the server does not respond', async () => {
    const clock = new ManualClock();
    lab.server.script = () => {};
    const asking = errorOf(lab.transport({}, { clock }).json(VERSION));
    await until(() => lab.server.exchanges.length === 1, 'the request has arrived');

    clock.advance(10_000);

    const error = await asking;
    expect(error.reason).toBe('TimedOut');
    expect(error.message).toBe(`GET /version at ${lab.server.url}: no response within 10 s`);
    await until(() => lab.server.exchanges[0]!.isClosed, 'the connection is released');
  });

  test('in time if the response does not end', async () => {
    const clock = new ManualClock();
    lab.server.script = (exchange) => {
      exchange.open();
      exchange.write('{');
    };
    const asking = errorOf(lab.transport({}, { clock }).json(VERSION));
    await until(() => lab.server.exchanges.length === 1, 'the request has arrived');

    clock.advance(10_000);

    expect((await asking).reason).toBe('TimedOut');
  });

  test('by the signal of its caller', async () => {
    lab.server.script = () => {};
    const abort = new AbortController();
    const asking = errorOf(lab.transport().json({ ...VERSION, signal: abort.signal }));
    await until(() => lab.server.exchanges.length === 1, 'the request has arrived');

    abort.abort(new Error('enough'));

    expect(await asking).toMatchObject({ reason: 'Aborted', cause: new Error('enough') });
    await until(() => lab.server.exchanges[0]!.isClosed, 'the connection is released');
  });

  test('before anything is sent, if the signal was aborted already', async () => {
    const error = await errorOf(lab.transport().json({ ...VERSION, signal: AbortSignal.abort() }));

    expect(error.reason).toBe('Aborted');
    expect(lab.server.exchanges).toHaveLength(0);
  });

  test('after its stream was silent for longer than the requested duration of a watch, and no sooner', async () => {
    const clock = new ManualClock();
    lab.server.script = (exchange) => exchange.open();
    const stream = await lab.transport({}, { clock }).stream(VERSION);
    const [exchange] = lab.server.exchanges;

    clock.advance(610_000);
    exchange!.write('a');
    const first = await stream.read();
    clock.advance(610_000);
    const silent = errorOf(stream.read());
    clock.advance(240_000);

    expect(first).toEqual(new Uint8Array([0x61]));
    expect(await silent).toMatchObject({ reason: 'TimedOut' });
    stream.close();
    await until(() => exchange!.isClosed, 'the connection is released');
  });

  test('without leaving a listener on a long-lived signal', async () => {
    const abort = new AbortController();
    let listeners = 0;
    const { signal } = abort;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...all: Parameters<typeof add>) => (listeners++, add(...all));
    signal.removeEventListener = (...all: Parameters<typeof remove>) => (
      listeners--,
      remove(...all)
    );

    await lab.transport().json({ ...VERSION, signal });

    expect(listeners).toBe(0);
  });
});
