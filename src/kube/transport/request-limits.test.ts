import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { ManualClock } from '../../clock/manual-clock.ts';
import { until } from '../../net/testing/peer.ts';
import { errorOf, TransportLab, VERSION } from './testing/lab.ts';

let lab: TransportLab;

beforeEach(async () => {
  lab = await TransportLab.open();
});

afterEach(async () => lab[Symbol.asyncDispose]());

describe('the end in time', () => {
  test('of a server that does not answer', async () => {
    const clock = new ManualClock();
    lab.server.script = () => {};
    const asking = errorOf(lab.transport({}, { clock }).json(VERSION));
    await until(() => lab.server.exchanges.length === 1, 'the request has come');

    clock.advance(10_000);

    const error = await asking;
    expect(error.reason).toBe('TimedOut');
    expect(error.message).toBe(`GET /version at ${lab.server.url}: no answer within 10 s`);
    await until(() => lab.server.exchanges[0]!.isClosed, 'the connection is released');
  });

  test('of a server that does not come to an end', async () => {
    const clock = new ManualClock();
    lab.server.script = (exchange) => {
      exchange.open();
      exchange.write('{');
    };
    const asking = errorOf(lab.transport({}, { clock }).json(VERSION));
    await until(() => lab.server.exchanges.length === 1, 'the request has come');

    clock.advance(10_000);

    expect((await asking).reason).toBe('TimedOut');
  });

  test('by the signal of the caller', async () => {
    lab.server.script = () => {};
    const abort = new AbortController();
    const asking = errorOf(lab.transport().json({ ...VERSION, signal: abort.signal }));
    await until(() => lab.server.exchanges.length === 1, 'the request has come');

    abort.abort(new Error('enough'));

    expect(await asking).toMatchObject({ reason: 'Aborted', cause: new Error('enough') });
    await until(() => lab.server.exchanges[0]!.isClosed, 'the connection is released');
  });

  test('before anything is sent, if the signal has come already', async () => {
    const error = await errorOf(lab.transport().json({ ...VERSION, signal: AbortSignal.abort() }));

    expect(error.reason).toBe('Aborted');
    expect(lab.server.exchanges).toHaveLength(0);
  });

  test('of a stream that is silent for longer than a server was asked to watch, and not sooner', async () => {
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

  test('leaves nothing behind on a signal that lives long', async () => {
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
