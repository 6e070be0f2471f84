/**
 * Where the log goes. Straight to the descriptor: process.stderr would load Node's streams, 2.4 MB of memory for a line
 * now and then. It may be a pipe that is full or whose reader is gone, a terminal that is stopped, or a file on a full
 * disk: no log may stop the program it is about. A socket alone is waited for, such as that of journald: nothing can be
 * done about its flags from here.
 */
import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { systemCode } from '../files/system-error.ts';
import { LineWriter } from './line-writer.ts';

/** A reader of a pipe takes that long at most to be there again, on a machine that has other things to do. */
const AGAIN_MS = 10;
/** How long the end of the program waits for what is not written yet. */
const LAST_WAIT_MS = 1000;

let descriptor: number | undefined;
let isEndWatched = false;

const writer = new LineWriter({ write: writeSome, later });

/** How many lines of this process could not be written. */
export function linesLost(): number {
  return writer.lost;
}

/** Writes a line, its newline included. */
export function writeToStandardError(line: string): void {
  writer.add(line);
}

function writeSome(bytes: Uint8Array): number {
  try {
    descriptor ??= standardError();
    return writeSync(descriptor, bytes);
  } catch (error) {
    if (systemCode(error) === 'EAGAIN') return 0;
    throw error;
  }
}

/**
 * A pipe or a terminal is opened anew, so that a write to a full one comes back. The flag for that is one of the opening:
 * others who write there too are not touched.
 */
function standardError(): number {
  const inherited = 2;
  const stats = fstatSync(inherited);
  if (!stats.isFIFO() && !stats.isCharacterDevice()) return inherited;
  try {
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
    return openSync(`/proc/self/fd/${inherited}`, O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {
    return inherited; // no Linux, or not ours to open: as good as any other program then
  }
}

function later(flush: () => void): void {
  setTimeout(flush, AGAIN_MS).unref();
  if (isEndWatched) return;
  isEndWatched = true;
  process.once('exit', () => {
    for (let waitedMs = 0; !writer.flush() && waitedMs < LAST_WAIT_MS; waitedMs++) Bun.sleepSync(1);
  });
}
