/** Limits and timeouts of one engine. */
import { existsSync, readFileSync } from 'node:fs';
import { GLOBAL, sumOver } from './counters.ts';
import { REASON } from './reasons.ts';

/**
 * Limits of one engine. An engine is one thread, so a gateway with four threads has four times each limit, except where
 * a field says that it covers all threads.
 */
export interface Limits {
  /** Maximum number of open connections. The engine resets further ones. */
  readonly maxConnections: number;
  /**
   * Maximum number of file descriptors of the process, for all threads together. A few are reserved for the rest of the
   * process. Default: the limit that the system set when the process started.
   */
  readonly maxDescriptors: number;
  /** Maximum number of connections whose first bytes are incomplete. The engine resets further ones. */
  readonly maxUnfinishedHellos: number;
  /**
   * Maximum number of unfinished hellos per source address. Does not apply to addresses of
   * {@link Router.isSharedSource}.
   */
  readonly maxUnfinishedHellosPerSource: number;
  /**
   * Maximum number of bytes buffered for slow readers and pending dials, over all connections of all threads. The
   * engine resets the connection that would exceed it.
   */
  readonly maxBufferedBytes: number;
  /** Maximum number of first bytes that the router sees. */
  readonly maxFirstBytes: number;
  /** Time from accept to complete first bytes. */
  readonly helloTimeoutMs: number;
  /** Time to connect to one endpoint. The next endpoint gets its own. */
  readonly dialTimeoutMs: number;
  /** How long a refused client may take to read its answer and close. */
  readonly lingerMs: number;
  /** Idle time before TCP sends keepalive probes. The engine never closes idle connections. */
  readonly keepaliveMs: number;
}

/**
 * Returns the soft limit, which Bun raises to the hard limit when it starts. Without /proc the limit is unknown, and so
 * infinite.
 */
function descriptorLimit(): number {
  const file = '/proc/self/limits';
  if (!existsSync(file)) return Infinity;
  const soft = /^Max open files +(\d+)/m.exec(readFileSync(file, 'latin1'))?.[1];
  return soft === undefined ? Infinity : Number(soft);
}

/** Descriptors reserved for the rest of the process. */
const DESCRIPTOR_RESERVE = 32;

/** The default limits. `maxFirstBytes` fits two PROXY headers and a ClientHello of 16 KiB. */
export const DEFAULT_LIMITS: Limits = {
  maxConnections: 100_000,
  maxDescriptors: descriptorLimit(),
  maxUnfinishedHellos: 10_000,
  maxUnfinishedHellosPerSource: 1_000,
  maxBufferedBytes: 64 * 1024 * 1024,
  maxFirstBytes: (16 + 4 + 4) * 1024,
  helloTimeoutMs: 10_000,
  dialTimeoutMs: 5_000,
  lingerMs: 2_000,
  keepaliveMs: 55_000,
};

/**
 * Returns how many more descriptors the clients of all threads will need. Each client without a connected upstream
 * counts as one.
 */
export function wantedDescriptors(allValues: readonly Float64Array[]): number {
  return sumOver(allValues, GLOBAL.unfinishedHellos) + sumOver(allValues, GLOBAL.dialing);
}

/**
 * Reports whether opening this descriptor, and `wanted` more later, leaves the reserve free. The kernel assigns the
 * lowest free number, so the number shows how many descriptors all threads use.
 */
export function keepsReserve(limits: Limits, descriptor: number, wanted: number): boolean {
  return descriptor + wanted + DESCRIPTOR_RESERVE < limits.maxDescriptors;
}

/** Returns the reason to refuse one more connection, or undefined. */
export function overLimit(
  limits: Limits,
  open: number,
  descriptor: number,
  wanted: number,
): number | undefined {
  if (open >= limits.maxConnections) return REASON.connections_limit;
  // `+ 1` for the upstream of this client.
  return keepsReserve(limits, descriptor, wanted + 1) ? undefined : REASON.descriptors_limit;
}
