/** On which processor, at which priority and with how many file descriptors a program of the bench runs. */
import { availableParallelism } from 'node:os';
import { readFileSync } from 'node:fs';

/** `tested`: the proxy that is measured, alone on its processor; `around`: load, backend and edge. */
export type Place = 'tested' | 'around';

/** Enough for 9,000 connections through a proxy, which has two sockets for each. */
const WANTED_FILES = 65_536;

/** Programs of util-linux and coreutils that a command line is wrapped in; each becomes the next by exec(). */
export const WRAPPERS = ['setpriv', 'prlimit', 'nice', 'taskset'] as const;

/** Is there a processor for the proxy alone? */
export const isPinned = availableParallelism() >= 2;

const isRoot = process.getuid?.() === 0;

/** The most file descriptors that a program of the bench gets. Even root cannot always have more than its own limit. */
export const fileLimit = Math.min(WANTED_FILES, hardFileLimit());

/** The command line that runs a program in its place. Its PID is that of the program itself. */
export function placed(place: Place, argv: readonly string[]): string[] {
  const processor = place === 'tested' ? '1' : '0';
  return [
    // Nothing survives the bench, even if that is killed.
    ...['setpriv', '--pdeathsig', 'KILL', '--'],
    ...['prlimit', `--nofile=${fileLimit}:${fileLimit}`],
    // Only root may be rude to the others on the machine.
    ...(isRoot ? ['nice', '-n', '-10'] : []),
    ...(isPinned ? ['taskset', '--cpu-list', processor] : []),
    ...argv,
  ];
}

function hardFileLimit(): number {
  const line = /^Max open files\s+\S+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
  return Number(line?.[1] ?? 1024);
}
