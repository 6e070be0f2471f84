/** Resolves symbolic links, so that two paths to the same file compare as equal. */
import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** Reports whether two paths are equal, or resolve to the same file through symbolic links. */
export function isSamePath(first: string, second: string): boolean {
  return resolve(first) === resolve(second) || realPathOf(first) === realPathOf(second);
}

/** Returns the absolute path without symbolic links. Resolves as much of a missing or unreadable path as possible. */
export function realPathOf(path: string): string {
  const absolute = resolve(path);
  try {
    return realpathSync(absolute);
  } catch (error) {
    const parent = dirname(absolute);
    if (!(error instanceof Error && 'code' in error) || parent === absolute) throw error;
    return join(realPathOf(parent), basename(absolute));
  }
}
