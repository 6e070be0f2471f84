import { closeSync, mkdirSync, openSync, readFileSync, writeSync, ftruncateSync } from 'node:fs';
import { dirname } from 'node:path';
import { tryLock } from '../machine/libc.ts';

/** Runs `work` while holding the lock file; if another process holds it, says so once through `waiting` and waits. */
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
