import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MAX_FILE_BYTES, readWatched, readWatchedAsync } from './read-watched.ts';

const folder = mkdtempSync(join(tmpdir(), 'snicket-read-watched-'));
const fifo = join(folder, 'fifo');
const large = join(folder, 'large');
/** A file that reports a size of 0 and is larger than memory. */
const REPORTS_NO_SIZE = '/proc/self/pagemap';
Bun.spawnSync(['mkfifo', fifo]);
writeFileSync(large, '');
truncateSync(large, MAX_FILE_BYTES + 1);

afterAll(() => rmSync(folder, { recursive: true }));

/** The two functions, which behave the same. */
const readers = [
  ['synchronously', async (path: string) => readWatched(path)],
  ['asynchronously', readWatchedAsync],
] as const;

test.each(readers)('reads a regular file, %s', async (_, read) => {
  const path = join(folder, 'plain');
  writeFileSync(path, 'content');

  expect((await read(path)).toString()).toBe('content');
});

test.each(
  readers.flatMap(([when, read]) => [
    [fifo, when, `${fifo} is not a regular file`, read] as const,
    [folder, when, 'is not a regular file', read] as const,
    ['/dev/zero', when, '/dev/zero is not a regular file', read] as const,
    [
      large,
      when,
      `is too large: ${MAX_FILE_BYTES + 1} bytes, at most ${MAX_FILE_BYTES}`,
      read,
    ] as const,
    [
      REPORTS_NO_SIZE,
      when,
      `is too large: more than ${MAX_FILE_BYTES} bytes, at most`,
      read,
    ] as const,
    [join(folder, 'none'), when, 'ENOENT', read] as const,
  ]),
)('rejects %s, %s', async (path, _, sentence, read) => {
  await expect(read(path)).rejects.toThrow(sentence);
});
