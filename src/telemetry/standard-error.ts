/**
 * Writes the log to standard error, directly to the file descriptor: process.stderr would load Node's streams, which
 * take 2.4 MB of memory.
 *
 * Standard error may be a full pipe, a pipe without a reader, a stopped terminal, or a file on a full disk. None of
 * them may block the program. The exception is a socket, such as that of journald: a write to it can block, because it
 * cannot be reopened with O_NONBLOCK.
 */
import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { systemCode } from '../files/system-error.ts';
import { LineWriter } from './line-writer.ts';

/** Delay before the next write to a full pipe. On a busy machine a reader usually returns within this time. */
const RETRY_MS = 10;
/** How long the program waits for pending lines when it exits. */
const EXIT_FLUSH_MS = 1000;

let descriptor: number | undefined;
let flushesAtExit = false;

const writer = new LineWriter({ write: tryWrite, later });

/** Returns how many lines of this process could not be written. */
export function linesLost(): number {
  return writer.lost;
}

/** Writes a line, including its newline. */
export function writeToStandardError(line: string): void {
  writer.add(line);
}

function tryWrite(bytes: Uint8Array): number {
  try {
    descriptor ??= standardError();
    return writeSync(descriptor, bytes);
  } catch (error) {
    if (systemCode(error) === 'EAGAIN') return 0;
    throw error;
  }
}

/**
 * Returns the descriptor for standard error. A pipe or a terminal is reopened with O_NONBLOCK, so that a write to a
 * full one returns. Reopening sets the flag only for this process, not for others that share the pipe.
 */
function standardError(): number {
  const inherited = 2;
  const stats = fstatSync(inherited);
  if (!stats.isFIFO() && !stats.isCharacterDevice()) return inherited;
  try {
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
    return openSync(`/proc/self/fd/${inherited}`, O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {
    return inherited; // not on Linux, or not permitted: use the inherited descriptor, whose writes may block
  }
}

function later(flush: () => void): void {
  setTimeout(flush, RETRY_MS).unref();
  if (flushesAtExit) return;
  flushesAtExit = true;
  process.once('exit', () => {
    for (let waitedMs = 0; !writer.flush() && waitedMs < EXIT_FLUSH_MS; waitedMs++)
      Bun.sleepSync(1);
  });
}
