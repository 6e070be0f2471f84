/**
 * A file that is there as a whole, or as it was before.
 */
import { chmodSync, closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Options of {@link replaceFile}. */
export interface ReplaceOptions {
  /** Whether it waits until a power cut cannot undo it. Default: no. */
  readonly isDurable?: boolean;
}

/** Puts a text in place of a file, which only its owner can read. @throws the system's error; the old file is left then */
export function replaceFile(
  path: string,
  text: string,
  { isDurable = false }: ReplaceOptions = {},
): void {
  const next = `${path}.${process.pid}`;
  writeFileSync(next, text, { mode: 0o600, flush: isDurable });
  chmodSync(next, 0o600); // the mode of an old one of that name would stay
  renameSync(next, path);
  if (isDurable) syncDirectory(dirname(path));
}

function syncDirectory(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
