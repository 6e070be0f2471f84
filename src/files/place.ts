/**
 * Where a path leads: two that read differently may be the same place.
 */
import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** The path without links. Of what is not there, or closed to us, the part that can be followed is. */
export function placeOf(path: string): string {
  const whole = resolve(path);
  try {
    return realpathSync(whole);
  } catch (error) {
    const parent = dirname(whole);
    if (!(error instanceof Error && 'code' in error) || parent === whole) throw error;
    return join(placeOf(parent), basename(whole));
  }
}
