/**
 * For tests only: ports for those who have to be told theirs before they listen.
 */
import { listenPlain } from '../bun/plain-listener.ts';

/** Below the ports that the system gives to dials and to who asks for any: none of these is taken by chance. */
const FIRST_PORT = 20_000;
const LAST_PORT = 31_999;
/** Test processes that run at the same time have close process IDs, and so take their ports from different ranges. */
const RANGES = 12;
const TRIES = 1_000;

/** Who was given one may not listen yet. */
const given = new Set<number>();

/** A port of loopback that nobody listens on, and that is given away once. */
export function freePort(): number {
  const size = (LAST_PORT - FIRST_PORT + 1) / RANGES;
  const first = FIRST_PORT + (process.pid % RANGES) * size;
  for (let tries = 0; tries < TRIES; tries++) {
    const port = first + Math.floor(Math.random() * size);
    if (given.has(port) || !isFree(port)) continue;
    given.add(port);
    return port;
  }
  throw new Error(`no port of 127.0.0.1 is free in ${TRIES} tries`);
}

function isFree(port: number): boolean {
  try {
    using _listener = listenPlain({ address: '127.0.0.1', port }, { data() {} });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
}
