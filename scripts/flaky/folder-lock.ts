import { ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { tryLock } from '../../world/machine/libc.ts';

/**
 * Locks a folder until this process ends. The file `lock` in it identifies this process.
 * @returns the content of the file if another process has the lock
 */
export function lockFolder(folder: string): string | undefined {
  const path = join(folder, 'lock');
  const fd = openSync(path, 'a+');
  if (!tryLock(fd)) return readFileSync(path, 'utf8').trim();
  ftruncateSync(fd);
  writeSync(fd, `process ${process.pid}, started at ${new Date().toISOString()}\n`);
  return undefined;
}
