/**
 * The last routes, kept in a file: a gateway that starts while the API server is away begins with them. The file has the
 * form of a routes file, so that it can be read and used as one.
 */
import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writeAtomically } from '../files/atomic-write.ts';
import type { Route } from '../gateway/routes/route.ts';
import { parseRoutes } from '../gateway/routes/routes-text.ts';

/** The routes that were kept; undefined if there is no file yet. @throws if it cannot be read or used. */
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

/** Writes the file as a whole, or leaves the old one. @throws if it cannot. */
export function writeRoutesState(path: string, routes: readonly Route[]): void {
  mkdirSync(dirname(path), { recursive: true });
  writeAtomically(path, `${JSON.stringify({ routes })}\n`);
}
