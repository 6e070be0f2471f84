/**
 * For tests only: hundreds of connections at once with different behavior. Every byte is checked. The seed makes a
 * failure reproducible.
 */
import { HELLO } from './lab.ts';
import { until, type Peer } from '../../net/testing/peer.ts';

const MAX_PAYLOAD_BYTES = 256 * 1024;
const INDEX_BYTES = 4;
const TIMEOUT_MS = 20_000;

const BEHAVIORS = [
  'plain',
  'slow client',
  'slow upstream',
  'answers after the FIN',
  'client resets',
  'upstream resets',
] as const;

/** Returns a generator of numbers from 0 to 1, determined by the seed (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What one connection does. */
interface Plan {
  readonly behavior: (typeof BEHAVIORS)[number];
  readonly up: Buffer;
  readonly down: Buffer;
  readonly pieceBytes: number;
}

function makePlan(index: number, nextRandom: () => number): Plan {
  const pattern = Buffer.from(Array.from({ length: 251 }, () => Math.floor(nextRandom() * 256)));
  const payload = () => Buffer.alloc(Math.floor(nextRandom() ** 2 * MAX_PAYLOAD_BYTES), pattern);
  const up = Buffer.concat([Buffer.alloc(INDEX_BYTES), payload()]);
  up.writeUInt32BE(index);
  const behavior = BEHAVIORS[index % BEHAVIORS.length] ?? 'plain';
  return { behavior, up, down: payload(), pieceBytes: 1 + Math.floor(nextRandom() * 40_000) };
}

async function sendInPieces(peer: Peer, bytes: Buffer, pieceBytes: number): Promise<void> {
  for (let at = 0; at < bytes.length && !peer.closed; at += pieceBytes) {
    await peer.send(bytes.subarray(at, at + pieceBytes));
  }
}

/** Reads a chunk, then pauses for a millisecond. */
function readSlowly(peer: Peer): void {
  peer.onData = () => {
    peer.pause();
    setTimeout(() => peer.resume(), 1);
  };
}

function sha256(bytes: Uint8Array): string {
  return Bun.SHA256.hash(bytes, 'hex');
}

/** A storm. The backend calls `serve` for each connection; `run` runs the clients. */
export class Storm {
  /** Number of connections that both sides completed, and their bytes. */
  completed = 0;
  bytesUp = 0;
  bytesDown = 0;

  readonly #plans: readonly Plan[];
  readonly #upstreams = new Map<number, Peer>();
  readonly #clients: Peer[] = [];
  readonly #serving: Promise<void>[] = [];

  constructor(connections: number, seed: number) {
    const next = random(seed);
    this.#plans = Array.from({ length: connections }, (_, index) => makePlan(index, next));
  }

  /** Runs the upstream side of a plan. The first bytes identify the plan. */
  serve(peer: Peer): void {
    this.#serving.push(this.#serve(peer));
  }

  /** Runs all clients at once. */
  async run(dial: () => Promise<Peer>): Promise<void> {
    const calls = this.#plans.map(async (plan, index) => {
      this.#clients[index] = await runClient(await dial(), plan);
    });
    await Promise.all(calls);
  }

  /** Returns the streams that did not arrive as they were sent. Call once, when all connections have ended. */
  async mismatches(): Promise<readonly string[]> {
    await Promise.all(this.#serving);
    const mismatches: string[] = [];
    for (const [index, plan] of this.#plans.entries()) {
      if (plan.behavior.endsWith('resets')) continue;
      const up = Buffer.concat([HELLO, plan.up]);
      if (this.#upstreams.get(index)?.hash.digest('hex') !== sha256(up)) {
        mismatches.push(`${index} up, ${plan.behavior}`);
      }
      if (this.#clients[index]?.hash.digest('hex') !== sha256(plan.down)) {
        mismatches.push(`${index} down, ${plan.behavior}`);
      }
      this.completed++;
      this.bytesUp += up.length;
      this.bytesDown += plan.down.length;
    }
    return mismatches;
  }

  async #serve(peer: Peer): Promise<void> {
    const headBytes = HELLO.length + INDEX_BYTES;
    await until(() => peer.received >= headBytes || peer.closed, 'the index', TIMEOUT_MS);
    if (peer.received < headBytes) return; // the client closed before it sent its index
    const index = peer.bytes().readUInt32BE(HELLO.length);
    const plan = this.#plans[index];
    if (plan === undefined) throw new Error(`no client has index ${index}`);
    this.#upstreams.set(index, peer);
    if (plan.behavior === 'slow upstream') readSlowly(peer);
    if (plan.behavior === 'upstream resets') {
      peer.reset();
      return;
    }
    if (plan.behavior === 'answers after the FIN') {
      await until(() => peer.sawFin || peer.closed, 'the FIN of the client', TIMEOUT_MS);
    }
    await sendInPieces(peer, plan.down, plan.pieceBytes);
    peer.fin();
  }
}

/** Runs the client side of a plan. */
async function runClient(client: Peer, plan: Plan): Promise<Peer> {
  if (plan.behavior === 'slow client') readSlowly(client);
  const bytes = Buffer.concat([HELLO, plan.up]);
  if (plan.behavior === 'client resets') {
    await sendInPieces(client, bytes.subarray(0, bytes.length / 2), plan.pieceBytes);
    client.reset();
  } else {
    await sendInPieces(client, bytes, plan.pieceBytes);
    client.fin();
  }
  await until(() => client.closed || client.sawFin, 'the end of a client', TIMEOUT_MS);
  return client;
}
