/**
 * Where the log goes. Straight to the descriptor: process.stderr would load Node's streams, 2.4 MB of memory for a line
 * now and then. It may be a pipe that is full or whose reader is gone, or a file on a full disk: whatever it is, the line
 * is lost and counted, for no log may stop the program it is about.
 */
import { constants, fstatSync, openSync, writeSync } from 'node:fs';

let lost = 0;

/** How many lines of this process could not be written. */
export function linesLost(): number {
  return lost;
}

/** Writes a line, its newline included. */
export function writeToStandardError(line: string): void {
  const bytes = Buffer.from(isMidLine ? `\n${line}` : line);
  let written = 0;
  const isWritten = () => {
    descriptor ??= standardError();
    written += writeSome(descriptor, bytes.subarray(written));
    return written === bytes.length;
  };
  try {
    isStuck = !isSoon(isWritten, isStuck ? 0 : PATIENCE_MS);
    if (isStuck) lost++;
  } catch {
    lost++;
  }
  if (written > 0) isMidLine = written < bytes.length;
}

/** Time for a reader to take a pipe full of lines; one that does not is not waited for again until it does. */
const PATIENCE_MS = 250;
let isStuck = false;
/** A pipe took half a line: the next one must not go on in it. */
let isMidLine = false;

/** Tries again each millisecond, for a while. */
function isSoon(isDone: () => boolean, patienceMs: number): boolean {
  for (let triesLeft = patienceMs; !isDone(); triesLeft--) {
    if (triesLeft <= 0) return false;
    Bun.sleepSync(1);
  }
  return true;
}

/** As many bytes as there is room for, which may be none. */
function writeSome(to: number, bytes: Uint8Array): number {
  try {
    return writeSync(to, bytes);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return 0;
    throw error;
  }
}

let descriptor: number | undefined;

/**
 * A pipe is opened anew, so that a write to a full one comes back in place of waiting for its reader. The flag for that is
 * one of the opening: others who write to the same pipe are not touched.
 */
function standardError(): number {
  const inherited = 2;
  if (!fstatSync(inherited).isFIFO()) return inherited;
  try {
    return openSync(`/proc/self/fd/${inherited}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return inherited; // no Linux, or not our pipe: as good as any other program then
  }
}
