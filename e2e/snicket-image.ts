/**
 * Snicket's image, built from the current sources. After `await world.importImage(await snicketImage())`, pods of that
 * world can run {@link SNICKET_IMAGE}, as in deploy/.
 */
import { join } from 'node:path';
import { IMAGE_NAME } from '../image/snicket-image.ts';
import { run } from '../world/machine/command.ts';
import { withLock } from '../world/parts/lock.ts';
import type { Progress } from '../world/parts/progress.ts';
import { repository } from '../world/repository.ts';

/** Name of the image for pods. Their imagePullPolicy is IfNotPresent, the default for a name with a tag. */
export const SNICKET_IMAGE = IMAGE_NAME;

/** Environment variable with the path of the archive, if the runner has built one for all scenarios. */
export const IMAGE_VARIABLE = 'SNICKET_E2E_IMAGE';

let archive: Promise<string> | undefined;

/** Returns the path of the archive: the runner's, or one that is built once per process. */
export async function snicketImage(progress?: Progress): Promise<string> {
  const built = process.env[IMAGE_VARIABLE];
  if (built !== undefined) return built;
  archive ??= makeImage(progress).then(() => join(repository, 'dist', 'snicket-image.tar'));
  return archive;
}

/** Runs `make image`, one at a time in this clone, and returns the digest that it prints. */
export async function makeImage(progress?: Progress): Promise<string> {
  const waiting = (holder: string) => progress?.update('image', `waiting for process ${holder}`);
  return withLock(join(repository, 'build', 'image.lock'), waiting, async () => {
    progress?.update('image', 'make image');
    const { stdout } = await run(
      ['make', '--no-print-directory', 'image', `IMAGE=${SNICKET_IMAGE}`],
      { cwd: repository, timeoutMs: 120_000 },
    );
    const [, digest] = /^digest +(sha256:[0-9a-f]{64})$/m.exec(stdout) ?? [];
    if (digest === undefined) throw new Error(`make image printed no digest:\n${stdout}`);
    progress?.done('image', digest);
    return digest;
  });
}
