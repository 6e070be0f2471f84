import { chmodSync, copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { partFolder } from './cache.ts';
import type { GoPart, ModuleFiles } from './catalog.ts';

/** Name of the subfolder of a Go part with the files that its programs need. */
export const FILES = 'files';

/** Folder with the files of one entry of a part's `files`; the part must be in the cache. */
export function filesFolder<P extends GoPart>(
  part: P,
  entry: Extract<keyof P['files'], string>,
): string {
  return join(partFolder(part), FILES, entry);
}

/** Copies a part's files from the modules that have them; `rootOf` returns Go's folder of a module. */
export async function copyModuleFiles(
  part: GoPart,
  target: string,
  rootOf: (module: string) => Promise<string>,
): Promise<void> {
  for (const [entry, files] of Object.entries(part.files ?? {})) {
    const root = await rootOf(files.module);
    for (const path of matchingFiles(files, root)) {
      const copy = join(target, entry, path);
      mkdirSync(dirname(copy), { recursive: true });
      copyFileSync(join(root, path), copy);
      // Go's module archives carry no permissions, and Go unpacks them read-only.
      chmodSync(copy, path.endsWith('.sh') ? 0o755 : 0o644);
    }
  }
}

/**
 * Returns the paths of the files that a part needs, below the module's root.
 *
 * @throws if a path matches no file
 */
function matchingFiles(files: ModuleFiles, root: string): string[] {
  return files.paths.flatMap((path) => {
    const found = [...new Bun.Glob(path).scanSync({ cwd: root, onlyFiles: true })];
    if (found.length === 0)
      throw new Error(`module ${files.module} has no file '${path}' in ${root}`);
    return found.toSorted();
  });
}
