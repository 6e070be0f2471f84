import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { run } from '../machine/command.ts';
import { cacheFolder } from '../parts/cache.ts';
import { program } from '../parts/parts.ts';
import { ociArchive, type ImageSpec } from './oci.ts';

/** The images that every worker has. */
export const IMAGES = {
  /** Holds a pod's namespaces. */
  pause: 'snicket.test/pause:1',
  /** A shell, the usual small programs, and kubectl. */
  tools: 'snicket.test/tools:1',
  konnectivityAgent: 'snicket.test/konnectivity-agent:1',
} as const;

/** Folder that keeps image archives between worlds. */
export function imagesFolder(): string {
  return join(cacheFolder(), 'images');
}

/** Writes an image's archive, unless it exists already, and returns its path. */
export function imageArchive(spec: ImageSpec): string {
  const key = createHash('sha256').update(JSON.stringify(spec));
  for (const path of Object.values(spec.files)) {
    const { size, mtimeMs } = statSync(path);
    key.update(`${path} ${size} ${mtimeMs}\n`);
  }
  const prefix = `${spec.name.replaceAll(/[/:]/g, '_')}-`;
  const archive = join(imagesFolder(), `${prefix}${key.digest('hex').slice(0, 12)}.tar`);
  if (existsSync(archive)) {
    utimesSync(archive, new Date(), new Date()); // so that it is not removed as old
    return archive;
  }
  mkdirSync(imagesFolder(), { recursive: true });
  removeOldArchives(prefix);
  writeFileSync(`${archive}.${process.pid}`, ociArchive(spec));
  renameSync(`${archive}.${process.pid}`, archive);
  return archive;
}

/**
 * Removes archives that were not used for an hour, so that repeated builds do not fill the disk. No import takes that
 * long.
 */
function removeOldArchives(prefix: string): void {
  for (const name of readdirSync(imagesFolder()).filter((file) => file.startsWith(prefix))) {
    const path = join(imagesFolder(), name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > 3600_000) rmSync(path, { force: true });
  }
}

const SLEEP = ['sleep', '2147483647'];

/** Debian's static busybox crashes when it looks up a name. */
const BROKEN_APPLETS = new Set(['busybox', 'wget']);

/** The archives of {@link IMAGES}. */
export async function baseImages(): Promise<string[]> {
  const busybox = program('busybox');
  const applets = (await run([busybox, '--list'])).stdout
    .split('\n')
    .filter((name) => name && !BROKEN_APPLETS.has(name));
  return [
    imageArchive({
      name: IMAGES.pause,
      files: { '/bin/busybox': busybox },
      entrypoint: ['/bin/busybox', ...SLEEP],
    }),
    imageArchive({
      name: IMAGES.tools,
      files: { '/bin/busybox': busybox, '/bin/kubectl': program('kubectl') },
      links: Object.fromEntries(applets.map((applet) => [`/bin/${applet}`, 'busybox'])),
      command: SLEEP,
    }),
    imageArchive({
      name: IMAGES.konnectivityAgent,
      files: { '/bin/proxy-agent': program('proxy-agent') },
      entrypoint: ['/bin/proxy-agent'],
    }),
  ];
}
