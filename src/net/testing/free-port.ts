/** For tests only: free ports for servers whose port must be known before they listen. */
import { listenTcp } from '../tcp-listener.ts';

/** Below the ephemeral ports, so that the kernel never assigns one of these to another socket. */
const FIRST_PORT = 20_000;
const RANGES = 240;
/** Number of ports in a range. */
export const RANGE_SIZE = 50;

/** The ranges that this process has claimed. It takes ports from the last one. */
const claimed: PortRange[] = [];
/** The port that {@link freePort} tries next. It returns no port twice, because the first server may not listen yet. */
let next = 0;

/** A range of ports that other test processes do not use. */
export interface PortRange extends Disposable {
  readonly first: number;
}

/**
 * Returns a port of 127.0.0.1 without a listener. Each port is returned once.
 * @throws Error if every range is in use
 */
export function freePort(): number {
  for (;;) {
    const range = claimed.at(-1);
    if (range === undefined || next === range.first + RANGE_SIZE) {
      const newRange = claimRange(process.pid % RANGES);
      claimed.push(newRange);
      next = newRange.first + 1; // claimRange listens on the first port
    }
    const port = next++;
    if (isFree(port)) return port;
  }
}

/**
 * Claims a range by listening on its first port until it is disposed of or the process ends.
 * @param start - The index of the range to try first.
 * @throws Error if every range is in use
 */
export function claimRange(start: number): PortRange {
  for (let attempt = 0; attempt < RANGES; attempt++) {
    const first = FIRST_PORT + ((start + attempt) % RANGES) * RANGE_SIZE;
    const listener = listenUnlessTaken(first);
    if (listener === undefined) continue;
    listener.unref();
    return { first, [Symbol.dispose]: () => listener.stop(true) };
  }
  throw new Error(`all ${RANGES} port ranges are in use by test processes`);
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
