/** For tests only: finds a kubectl on this machine. */
import { existsSync } from 'node:fs';
import { program } from '../../world/parts/parts.ts';

/** Returns the path of the kubectl that was built for worlds, else of the machine's own; undefined if there is none. */
export function findKubectl(): string | undefined {
  const built = program('kubectl');
  return existsSync(built) ? built : (Bun.which('kubectl') ?? undefined);
}
