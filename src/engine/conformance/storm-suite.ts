/**
 * Hundreds of connections at once, each with its own temper, all bytes checked. This is the test that found the lost
 * edges of the prototype (PERF.md section 4). The seed makes a failure come back.
 */
import { expect, test } from 'bun:test';
import { HELLO, Lab } from './lab.ts';
import { Peer, until } from './peer.ts';

const CONNECTIONS = 300;
const LARGEST_BYTES = 256 * 1024;
const INDEX_BYTES = 4;

const TEMPERS = [
  'plain',
  'slow client',
  'slow upstream',
  'answers after the FIN',
  'client resets',
  'upstream resets',
] as const;

/** Numbers from 0 up to 1, the same for the same seed (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What one connection is to do. */
interface Plan {
  readonly temper: (typeof TEMPERS)[number];
  readonly up: Buffer;
  readonly down: Buffer;
  readonly pieceBytes: number;
}

function makePlan(index: number, next: () => number): Plan {
  const pattern = Buffer.from(Array.from({ length: 251 }, () => Math.floor(next() * 256)));
  const payload = () => Buffer.alloc(Math.floor(next() ** 2 * LARGEST_BYTES), pattern);
  const up = Buffer.concat([Buffer.alloc(INDEX_BYTES), payload()]);
  up.writeUInt32BE(index);
  const temper = TEMPERS[index % TEMPERS.length] ?? 'plain';
  return { temper, up, down: payload(), pieceBytes: 1 + Math.floor(next() * 40_000) };
}

async function sendInPieces(peer: Peer, bytes: Buffer, pieceBytes: number): Promise<void> {
  for (let at = 0; at < bytes.length && !peer.closed; at += pieceBytes) {
    await peer.send(bytes.subarray(at, at + pieceBytes));
  }
}

/** Reads a while, rests a while. */
function readSlowly(peer: Peer): void {
  peer.onData = () => {
    peer.pause();
    setTimeout(() => peer.resume(), 1);
  };
}

/** The upstream's half of a plan, which it finds out from the first bytes. */
async function serve(
  peer: Peer,
  plans: readonly Plan[],
  upstreams: Map<number, Peer>,
): Promise<void> {
  const headBytes = HELLO.length + INDEX_BYTES;
  await until(() => peer.received >= headBytes || peer.closed, 'the index', 20_000);
  if (peer.received < headBytes) return; // the client was gone before
  const index = peer.bytes().readUInt32BE(HELLO.length);
  const plan = plans[index];
  if (plan === undefined) throw new Error(`connection ${index} was never made`);
  upstreams.set(index, peer);
  if (plan.temper === 'slow upstream') readSlowly(peer);
  if (plan.temper === 'upstream resets') {
    peer.reset();
    return;
  }
  if (plan.temper === 'answers after the FIN') {
    await until(() => peer.sawFin || peer.closed, 'the FIN of the client', 20_000);
  }
  await sendInPieces(peer, plan.down, plan.pieceBytes);
  peer.fin();
}

/** The client's half. */
async function call(lab: Lab, plan: Plan): Promise<Peer> {
  const client = await lab.dial();
  if (plan.temper === 'slow client') readSlowly(client);
  const bytes = Buffer.concat([HELLO, plan.up]);
  if (plan.temper === 'client resets') {
    await sendInPieces(client, bytes.subarray(0, bytes.length / 2), plan.pieceBytes);
    client.reset();
  } else {
    await sendInPieces(client, bytes, plan.pieceBytes);
    client.fin();
  }
  await until(() => client.closed || client.sawFin, 'the end of a client', 20_000);
  return client;
}

/** Registers the test for one engine. */
export function stormSuite(engine: string): void {
  test.each([1, 2])(
    'brings every byte of hundreds of connections of all tempers to its place, seed %d',
    async (seed) => {
      const next = random(seed);
      const plans = Array.from({ length: CONNECTIONS }, (_, index) => makePlan(index, next));
      const upstreams = new Map<number, Peer>();
      const serving: Promise<void>[] = [];
      using lab = new Lab(engine, {
        onPeer: (peer) => serving.push(serve(peer, plans, upstreams)),
      });

      const clients = await Promise.all(plans.map(async (plan) => call(lab, plan)));
      await until(() => lab.counters.global('open') === 0, 'no connection left', 20_000);
      await Promise.all(serving);
      await until(() => lab.counters.global('abandonedDials') === 0, 'no dial left');

      let bytesUp = 0;
      let bytesDown = 0;
      const wrong: string[] = [];
      for (const [index, plan] of plans.entries()) {
        if (plan.temper.endsWith('resets')) continue;
        const up = Buffer.concat([HELLO, plan.up]);
        const upstream = upstreams.get(index);
        if (upstream?.hash.digest('hex') !== sha256(up)) wrong.push(`${index} up, ${plan.temper}`);
        if (clients[index]?.hash.digest('hex') !== sha256(plan.down)) {
          wrong.push(`${index} down, ${plan.temper}`);
        }
        bytesUp += up.length;
        bytesDown += plan.down.length;
      }
      expect(wrong).toEqual([]);

      const ended = lab.table.endings.filter((ending) => ending.reason === 'completed');
      const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);
      expect(ended).toHaveLength((CONNECTIONS / TEMPERS.length) * 4);
      expect(sum(ended.map((ending) => ending.bytesUp))).toBe(bytesUp);
      expect(sum(ended.map((ending) => ending.bytesDown))).toBe(bytesDown);
      expect(sum(lab.table.endings.map((ending) => ending.bytesUp))).toBe(lab.counts().bytesUp);
      expect(lab.counts()).toMatchObject({ open: 0 });
      expect(lab.counters.global('keptBytes')).toBe(0);
      expect(lab.counters.global('lostEdges')).toBe(0);
      expect(lab.faults).toEqual([]);
    },
    30_000,
  );
}

function sha256(bytes: Uint8Array): string {
  return Bun.SHA256.hash(bytes, 'hex');
}
