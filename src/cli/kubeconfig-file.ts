import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** That a file is there already, and is to stay. */
export class FileExists extends Error {
  override readonly name = 'FileExists';
  constructor(path: string) {
    super(`${path} is there already; name another file, or write over it with --force`);
  }
}

/** @throws FileExists */
export function refuseExisting(path: string): void {
  if (existsSync(path)) throw new FileExists(path);
}

/**
 * Writes a file that only its owner can read, whole or not at all. One that is there is replaced and not written into: it
 * may be readable by others.
 *
 * @throws FileExists, unless it may be replaced; and the error of the system, with its `code`.
 */
export function writeSecretFile(path: string, text: string, mayReplace: boolean): void {
  if (!mayReplace) {
    try {
      writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') {
        throw new FileExists(path);
      }
      throw error;
    }
    return;
  }
  const beside = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(beside, text, { mode: 0o600, flag: 'wx' });
    renameSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}
