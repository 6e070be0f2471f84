import { ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { tryLock } from '../../world/machine/libc.ts';

/**
 * Takes the lock of a folder for as long as this process runs. The file `lock` in it names this process.
 * @returns what the file says about the process that has the lock, if another one has it
 */
export function lockFolder(folder: string): string | undefined {
  const path = join(folder, 'lock');
  const fd = openSync(path, 'a+');
  if (!tryLock(fd)) return readFileSync(path, 'utf8').trim();
  ftruncateSync(fd);
  writeSync(fd, `process ${process.pid}, started at ${new Date().toISOString()}\n`);
  return undefined;
}
