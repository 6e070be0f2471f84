/**
 * The image of Snicket, made from the sources as they are: `await world.image(await snicketImage())`, and pods of that world
 * run {@link SNICKET_IMAGE}, as deploy/ has it.
 */
import { join } from 'node:path';
import { IMAGE_NAME } from '../image/snicket-image.ts';
import { run } from '../world/machine/command.ts';
import { withLock } from '../world/parts/lock.ts';
import type { Progress } from '../world/parts/progress.ts';
import { repository } from '../world/repository.ts';

/** What pods name; with imagePullPolicy IfNotPresent, the default for a name with a tag. */
export const SNICKET_IMAGE = IMAGE_NAME;

let made: Promise<string> | undefined;

/** Path of the archive, made once for all tests of a process. It takes three seconds, so nobody asks what has changed. */
export async function snicketImage(progress?: Progress): Promise<string> {
  made ??= makeImage(progress).then(() => join(repository, 'dist', 'snicket-image.tar'));
  return made;
}

/** Runs `make image`, one at a time on this clone, and returns the digest that it prints. */
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
