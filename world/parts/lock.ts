import { closeSync, mkdirSync, openSync, readFileSync, writeSync, ftruncateSync } from 'node:fs';
import { dirname } from 'node:path';
import { tryLock } from '../machine/libc.ts';

/**
 * Runs `work` while it holds the lock file. If another process holds the lock, calls `onWait` once with the PID of that
 * process and waits.
 */
export async function withLock<T>(
  path: string,
  onWait: (owner: string) => void,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  mkdirSync(dirname(path), { recursive: true });
  const fd = openSync(path, 'a+');
  try {
    for (let isReported = false; !tryLock(fd); isReported = true) {
      if (!isReported) onWait(readFileSync(path, 'utf8').trim());
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
