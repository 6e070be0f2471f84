/**
 * How much one engine takes on, and for how long it waits.
 */
import { existsSync, readFileSync } from 'node:fs';
import { GLOBAL, sumOver } from './counters.ts';
import { REASON } from './reasons.ts';

/** Limits of one engine, which is one thread: a gateway of four threads has each of them four times. */
export interface Limits {
  /** The most connections at a time; one more is reset. */
  readonly maxConnections: number;
  /**
   * How many file descriptors the process may have, all threads together; a few of them are left to others. Default:
   * what the system allowed when the process started.
   */
  readonly maxDescriptors: number;
  /** The most connections whose first bytes are not complete; one more is reset. */
  readonly maxUnfinishedHellos: number;
  /** The same for one address, but for those that {@link Switchboard.standsForMany}. */
  readonly maxUnfinishedHellosPerSource: number;
  /**
   * How many bytes may wait in this process for slow readers and for dials, of all connections of all threads together. The
   * connection that would go beyond is reset.
   */
  readonly maxKeptBytes: number;
  /** How many of the first bytes the switchboard may see. */
  readonly maxFirstBytes: number;
  /** From accept to complete first bytes. */
  readonly helloTimeoutMs: number;
  /** For one endpoint; the next one has its own. */
  readonly dialTimeoutMs: number;
  /** How long a refused client may take to read its answer and leave. */
  readonly lingerMs: number;
  /** Silence before TCP asks whether the peer is alive. There is no cut of idle connections. */
  readonly keepaliveMs: number;
}

/** The soft limit, which Bun has raised to the hard one at its start. Without /proc there is none to know. */
function descriptorLimit(): number {
  const file = '/proc/self/limits';
  if (!existsSync(file)) return Infinity;
  const soft = /^Max open files +(\d+)/m.exec(readFileSync(file, 'latin1'))?.[1];
  return soft === undefined ? Infinity : Number(soft);
}

/** Descriptors left to the rest of the process. */
const DESCRIPTOR_RESERVE = 32;

/** By default. The first bytes are a ClientHello of 16 KiB and up to two PROXY headers before it. */
export const DEFAULT_LIMITS: Limits = {
  maxConnections: 100_000,
  maxDescriptors: descriptorLimit(),
  maxUnfinishedHellos: 10_000,
  maxUnfinishedHellosPerSource: 1_000,
  maxKeptBytes: 64 * 1024 * 1024,
  maxFirstBytes: (16 + 4 + 4) * 1024,
  helloTimeoutMs: 10_000,
  dialTimeoutMs: 5_000,
  lingerMs: 2_000,
  keepaliveMs: 55_000,
};

/** How many descriptors will be wanted, in all threads: each client without an upstream will want one more. */
export function wantedDescriptors(allValues: readonly Float64Array[]): number {
  return sumOver(allValues, GLOBAL.unfinishedHellos) + sumOver(allValues, GLOBAL.dialling);
}

/**
 * Whether a descriptor that was just opened leaves enough to the rest of the process, with so many wanted besides. A new one
 * has the lowest free number, which says how many are taken, in all threads.
 */
export function leavesReserve(limits: Limits, descriptor: number, wanted: number): boolean {
  return descriptor + wanted + DESCRIPTOR_RESERVE < limits.maxDescriptors;
}

/** The reason not to admit one more connection, if there is one. */
export function overLimit(
  limits: Limits,
  open: number,
  descriptor: number,
  wanted: number,
): number | undefined {
  if (open >= limits.maxConnections) return REASON.connections_limit;
  // The one more is its own upstream.
  return leavesReserve(limits, descriptor, wanted + 1) ? undefined : REASON.descriptors_limit;
}
