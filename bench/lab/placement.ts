/** The CPU, priority and file descriptor limit of the bench's programs. */
import { availableParallelism } from 'node:os';
import { readFileSync } from 'node:fs';

/** `tested`: the measured proxy, alone on its CPU; `support`: load generator, backend and edge. */
export type Placement = 'tested' | 'support';

/** Enough for 9,000 connections through a proxy, which has two sockets per connection. */
const WANTED_FILES = 65_536;

/** Programs of util-linux and coreutils that wrap a command line. Each one executes the next by exec(). */
export const WRAPPERS = ['setpriv', 'prlimit', 'nice', 'taskset'] as const;

/** Whether there is a separate CPU for the proxy. */
export const isPinned = availableParallelism() >= 2;

const isRoot = process.getuid?.() === 0;

/** The file descriptor limit of the bench's programs. Even root cannot always exceed its own limit. */
export const fileLimit = Math.min(WANTED_FILES, hardFileLimit());

/** Returns the command line that runs a program with its placement. The PID is that of the program itself. */
export function withPlacement(placement: Placement, argv: readonly string[]): string[] {
  const processor = placement === 'tested' ? '1' : '0';
  return [
    // The kernel kills the program when the bench ends, even if the bench is killed.
    ...['setpriv', '--pdeathsig', 'KILL', '--'],
    ...['prlimit', `--nofile=${fileLimit}:${fileLimit}`],
    // Only root can raise the priority.
    ...(isRoot ? ['nice', '-n', '-10'] : []),
    ...(isPinned ? ['taskset', '--cpu-list', processor] : []),
    ...argv,
  ];
}

function hardFileLimit(): number {
  const line = /^Max open files\s+\S+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
  return Number(line?.[1] ?? 1024);
}
