/**
 * For tests only: free ports for servers whose port must be known before they listen.
 */
import { listenTcp } from '../tcp-listener.ts';

/** Below the ephemeral ports, so that the kernel never assigns one of these to another socket. */
const FIRST_PORT = 20_000;
const RANGES = 60;
/** Number of ports in a range. */
export const RANGE_SIZE = 200;
const TRIES = 1_000;

/** Ports that were returned before. Their servers may not listen yet. */
const given = new Set<number>();
let ownRange: PortRange | undefined;

/** A range of ports that other test processes do not use. */
export interface PortRange extends Disposable {
  readonly first: number;
}

/** Returns a port of 127.0.0.1 without a listener. Each port is returned once. */
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
 * Claims a range by listening on its first port until it is disposed of or the process ends.
 * @param start - The index of the range to try first.
 * @throws Error if every range is in use
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
    return listenTcp({ address: '127.0.0.1', port }, { data() {} });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw error;
  }
}
