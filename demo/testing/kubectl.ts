/**
 * For tests only: a kubectl, if this machine has one.
 */
import { existsSync } from 'node:fs';
import { program } from '../../world/parts/parts.ts';

/** Path of the kubectl that was built for worlds, else of the machine's own; undefined if there is none. */
export function findKubectl(): string | undefined {
  const built = program('kubectl');
  return existsSync(built) ? built : (Bun.which('kubectl') ?? undefined);
}
