import { join } from 'node:path';

/** The root of this repository: programs of the world, such as its DNS, run from here. */
export const repository = join(import.meta.dir, '..');
