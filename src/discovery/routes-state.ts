/**
 * Stores the last routes in a file, for a gateway that starts while the API server is unreachable. The format is that
 * of a routes file, so that it can be read and used as one.
 */
import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writeAtomically } from '../files/atomic-write.ts';
import type { Route } from '../gateway/routes/route.ts';
import { parseRoutes } from '../gateway/routes/routes-text.ts';

/**
 * Returns the stored routes, or undefined if there is no file yet. @throws if the file cannot be read or is invalid.
 */
export async function readRoutesState(path: string): Promise<readonly Route[] | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  return parseRoutes(text, path);
}

/**
 * Replaces the file atomically. A route that allows no source is omitted: the format has no empty list, and a
 * gateway refuses a host without a route too. @throws if it cannot be written.
 */
export function writeRoutesState(path: string, routes: readonly Route[]): void {
  mkdirSync(dirname(path), { recursive: true });
  const usable = routes.filter(({ allowedSources }) => allowedSources?.length !== 0);
  writeAtomically(path, `${JSON.stringify({ routes: usable })}\n`);
}
