/**
 * For tests only: ports for those who have to be told theirs before they listen.
 */
import { listenPlain } from '../bun/plain-listener.ts';

/** Below the ports that the system gives to dials and to who asks for any: none of these is taken by chance. */
const FIRST_PORT = 20_000;
const RANGES = 60;
/** Ports of a range. */
export const RANGE_SIZE = 200;
const TRIES = 1_000;

/** Who was given one may not listen yet. */
const given = new Set<number>();
let ownRange: PortRange | undefined;

/** Ports that no other process takes. */
export interface PortRange extends Disposable {
  readonly first: number;
}

/** A port of loopback that nobody listens on, and that is given away once. */
export function freePort(): number {
  ownRange ??= claimRange(process.pid % RANGES);
  for (let tries = 0; tries < TRIES; tries++) {
    const port = ownRange.first + Math.floor(Math.random() * RANGE_SIZE);
    if (given.has(port) || !isFree(port)) continue;
    given.add(port);
    return port;
  }
  throw new Error(`no port of 127.0.0.1 is free in ${TRIES} tries`);
}

/**
 * Claims a range by listening on its first port, until it is disposed of or the process ends.
 * @param start - The number of the range to try first.
 * @throws Error if every range is taken
 */
export function claimRange(start: number): PortRange {
  for (let tries = 0; tries < RANGES; tries++) {
    const first = FIRST_PORT + ((start + tries) % RANGES) * RANGE_SIZE;
    const listener = listenUnlessTaken(first);
    if (listener === undefined) continue;
    listener.unref();
    return { first, [Symbol.dispose]: () => listener.stop(true) };
  }
  throw new Error(`each of the ${RANGES} port ranges belongs to a test process`);
}

function isFree(port: number): boolean {
  using listener = listenUnlessTaken(port);
  return listener !== undefined;
}

function listenUnlessTaken(port: number) {
  try {
    return listenPlain({ address: '127.0.0.1', port }, { data() {} });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw error;
  }
}
