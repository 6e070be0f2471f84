/**
 * Tests for bulk that arrives in small pieces, as from a proxy that forwards 16 KB at a time. An engine may coalesce
 * the pieces, but must not lose bytes or get stuck. It runs in a separate process, because it would be too slow in this
 * one.
 */
import { expect, test } from 'bun:test';
import { EngineProcess } from '../child.ts';
import { HELLO, NAME } from '../lab.ts';
import { Backend, Peer, until } from '../../../net/testing/peer.ts';

const MEGABYTE = 1 << 20;
const PIECE = Buffer.alloc(16 * 1024, 9);

/** Starts an engine between a client and its upstream. */
async function joinedPair(engine: string) {
  const backend = new Backend();
  const rows = [{ name: NAME, endpoints: [['127.0.0.1', backend.port] as const] }];
  const child = await EngineProcess.start(engine, rows);
  const client = await Peer.dial((await child.report()).port);
  await client.send(HELLO);
  const upstream = await backend.next();
  await until(() => upstream.received === HELLO.length, 'the hello');
  const dispose = async () => {
    backend[Symbol.dispose]();
    await child[Symbol.asyncDispose]();
  };
  return { client, upstream, child, [Symbol.asyncDispose]: dispose };
}

/** Yields to the event loop once. A timer would take a whole millisecond. */
async function turn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setImmediate(resolve);
  await promise;
}

/** Sends this many pieces, with turns of the event loop between them. */
async function sendPieces(from: Peer, pieces: number): Promise<number> {
  for (let count = 0; count < pieces; count++) {
    await from.send(PIECE);
    for (let turns = 0; turns < 4; turns++) await turn();
  }
  return pieces * PIECE.length;
}

/** Sends this many pieces, each when the previous one has arrived. */
async function sendPiecesOneByOne(from: Peer, to: Peer, pieces: number): Promise<number> {
  const endMs = performance.now() + 60_000;
  for (let count = 0; count < pieces; count++) {
    const expected = to.received + PIECE.length;
    await from.send(PIECE);
    while (to.received < expected) {
      if (performance.now() > endMs) throw new Error(`${count} of ${pieces} pieces have arrived`);
      await turn();
    }
  }
  return pieces * PIECE.length;
}

/** Registers the tests for one engine. */
export function smallReadsSuite(engine: string): void {
  for (const from of ['client', 'upstream'] as const) {
    const to = from === 'client' ? 'upstream' : 'client';

    test(`forwards bulk in small pieces from the ${from}, and the bytes that follow`, async () => {
      await using pair = await joinedPair(engine);
      const before = pair[to].received;

      const bytes = await sendPieces(pair[from], 1000);
      await until(() => pair[to].received === before + bytes, 'all pieces');
      await pair[from].send(Buffer.from('?'));
      await until(() => pair[to].received === before + bytes + 1, 'the question');
      const answered = pair[from].received + 1;
      await pair[to].send(Buffer.from('!'));
      await until(() => pair[from].received === answered, 'the answer');
      pair[from].fin();
      await until(() => pair[to].sawFin, 'the FIN');

      const { recoveredEvents, bufferedBytes } = await pair.child.report();
      expect({ recoveredEvents, bufferedBytes }).toEqual({ recoveredEvents: 0, bufferedBytes: 0 });
    });

    test(`forwards small pieces from the ${from}, each sent after an answer to the previous one`, async () => {
      await using pair = await joinedPair(engine);
      const before = pair[to].received;

      const bytes = await sendPiecesOneByOne(pair[from], pair[to], 500);

      expect(pair[to].received).toBe(before + bytes);
      expect((await pair.child.report()).recoveredEvents).toBe(0);
    });

    test(`buffers at most a megabyte of small pieces for a stalled ${to}, and loses no byte`, async () => {
      await using pair = await joinedPair(engine);
      const before = pair[to].received;
      const payload = Buffer.alloc(32 * MEGABYTE, 8);

      const bytes = await sendPieces(pair[from], 200);
      pair[to].pause();
      const sending = pair[from].send(payload);
      const stalled = await pair.child.until(
        ({ bufferedBytes }) => bufferedBytes > 0,
        'a stalled reader',
      );
      pair[to].resume();
      await sending;
      await until(() => pair[to].received === before + bytes + payload.length, 'all bytes');

      expect(stalled.bufferedBytes).toBeLessThanOrEqual(MEGABYTE);
      await pair.child.until(({ bufferedBytes }) => bufferedBytes === 0, 'nothing buffered');
    });

    test(`forwards a reset of the ${from} between small pieces`, async () => {
      await using pair = await joinedPair(engine);

      await sendPieces(pair[from], 200);
      pair[from].reset();

      await until(() => pair[to].closed, 'the end of the other side');
      expect(pair[to].wasReset).toBe(true);
      const { failures } = await pair.child.until(({ open }) => open === 0, 'no open connection');
      expect(failures).toEqual({ [`${from}_reset`]: 1 });
    });
  }
}
