import { closeSync, mkdirSync, openSync, readFileSync, writeSync, ftruncateSync } from 'node:fs';
import { dirname } from 'node:path';
import { tryLock } from '../machine/libc.ts';

/**
 * Runs `work` while it holds the lock file. If another process holds it, calls `waiting` once with that process's PID
 * and waits.
 */
export async function withLock<T>(
  path: string,
  waiting: (holder: string) => void,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  mkdirSync(dirname(path), { recursive: true });
  const fd = openSync(path, 'a+');
  try {
    for (let said = false; !tryLock(fd); said = true) {
      if (!said) waiting(readFileSync(path, 'utf8').trim());
      signal?.throwIfAborted();
      await Bun.sleep(200);
    }
    ftruncateSync(fd);
    writeSync(fd, `${process.pid}\n`);
    return await work();
  } finally {
    closeSync(fd);
  }
}
