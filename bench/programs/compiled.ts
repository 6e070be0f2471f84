/** Compiles the bench's own programs, and caches them by the hash of their sources in the user's cache folder. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../world/machine/command.ts';
import { architecture, cacheFolder } from '../../world/parts/cache.ts';
import { goEnvironment } from '../../world/parts/go.ts';
import { workFolder } from '../../world/parts/work-folder.ts';
import { compiler } from './compiler.ts';
import { MissingProgramError } from './missing.ts';

const SOURCES = join(import.meta.dir, '..', 'c');
const GO_SOURCE = join(import.meta.dir, '..', 'peers', 'relay.go');

/** The C programs, with the modules they are linked with. */
const C_PROGRAMS = {
  load: ['hello', 'stream', 'processor'],
  backend: ['hello', 'stream'],
  relay: ['hello', 'stream'],
} as const;

/** Paths of the C programs. */
export type CPrograms = Readonly<Record<keyof typeof C_PROGRAMS, string>>;

/** Returns the compiled load generator, backend and relay, from the cache if possible. */
export async function compileC(): Promise<CPrograms> {
  const names = Object.keys(C_PROGRAMS) as (keyof typeof C_PROGRAMS)[];
  const sources = readdirSync(SOURCES).map((name) => join(SOURCES, name));
  const folder = await onceFor('c', sources, async (work) => {
    const compile = await compiler();
    for (const name of names) {
      const files = [name, ...C_PROGRAMS[name]].map((file) => join(SOURCES, `${file}.c`));
      await compile(files, join(work, name));
    }
  });
  return {
    load: join(folder, 'load'),
    backend: join(folder, 'backend'),
    relay: join(folder, 'relay'),
  };
}

/** Returns the compiled relay in Go, from the cache if possible. */
export async function compileGo(): Promise<string> {
  if (!Bun.which('go'))
    throw new MissingProgramError('Go is not on the PATH: install it, or leave the Go peers out');
  const folder = await onceFor('go', [GO_SOURCE], async (work) => {
    const argv = ['go', 'build', '-trimpath', '-o', join(work, 'relay'), GO_SOURCE];
    await run(argv, { env: { ...goEnvironment, GOFLAGS: '-buildvcs=false' }, timeoutMs: 300_000 });
  });
  return join(folder, 'relay');
}

async function onceFor(
  language: string,
  sources: readonly string[],
  compile: (work: string) => Promise<void>,
): Promise<string> {
  const digest = createHash('sha256');
  for (const source of sources.toSorted()) digest.update(readFileSync(source));
  const name = `${language}-${architecture}-${digest.digest('hex').slice(0, 8)}`;
  const folder = join(cacheFolder(), 'bench', name);
  if (existsSync(folder)) return folder;
  mkdirSync(join(cacheFolder(), 'bench'), { recursive: true });
  const work = workFolder(folder);
  await compile(work);
  renameSync(work, folder);
  return folder;
}
