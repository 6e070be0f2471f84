/** Names and paths of parts in the cache. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, relative } from 'node:path';
import type { GoPart, Part } from './catalog.ts';

/** The user's cache folder, shared by all clones of this repository. */
export function cacheFolder(): string {
  const xdg = process.env['XDG_CACHE_HOME'];
  // The XDG base directory specification says that a relative path is ignored.
  return join(xdg && isAbsolute(xdg) ? xdg : join(homedir(), '.cache'), 'snicket');
}

/** Folder of all parts. */
export function partsFolder(): string {
  return join(cacheFolder(), 'parts');
}

/** Go's name for this machine's processor. */
export const architecture = process.arch === 'x64' ? 'amd64' : process.arch;

/** Folder of a Go part's module in this repository. */
export function moduleFolder(part: GoPart): string {
  return join(import.meta.dir, 'go', part.name);
}

/**
 * Returns the name of a part's folder in the cache. It changes with the part's sources and definition, but not with the
 * version of Go that builds it.
 */
export function partFolderName(part: Part): string {
  const digest = createHash('sha256');
  const name = [part.name, ...('version' in part ? [part.version] : []), architecture].join('-');
  switch (part.kind) {
    case 'go':
      for (const file of ['go.mod', 'go.sum', ...filesBelow(moduleFolder(part))])
        digest.update(readFileSync(join(moduleFolder(part), file)));
      digest.update(
        JSON.stringify([
          part.programs,
          part.linkerFlags ?? '',
          ...(part.files ? [part.files] : []),
        ]),
      );
      break;
    case 'debian':
      // The part contains only packages that this release lacks, so it fits no other release.
      digest.update(JSON.stringify([part.packages, part.programs, release()]));
      break;
    case 'pypi':
      digest.update(JSON.stringify([part.package, part.digests, part.programs]));
      break;
  }
  return `${name}-${digest.digest('hex').slice(0, 8)}`;
}

/** Name and version of this Linux distribution. */
function release(): string[] {
  const path = '/etc/os-release';
  return existsSync(path) ? (readFileSync(path, 'utf8').match(/^(ID|VERSION_ID)=.*$/gm) ?? []) : [];
}

/** Returns the files in the subfolders of a module: dependencies of `replace` directives, which are built too. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.parentPath !== folder)
    .map((entry) => join(relative(folder, entry.parentPath), entry.name))
    .toSorted();
}

/** Path of a part's folder in the cache. */
export function partFolder(part: Part): string {
  return join(partsFolder(), partFolderName(part));
}
