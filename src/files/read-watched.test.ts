import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MAX_FILE_BYTES, readWatched, readWatchedAsync } from './read-watched.ts';

const folder = mkdtempSync(join(tmpdir(), 'snicket-read-watched-'));
const fifo = join(folder, 'fifo');
const large = join(folder, 'large');
/** This file reports 0 bytes and is larger than memory. */
const SIZELESS = '/proc/self/pagemap';
Bun.spawnSync(['mkfifo', fifo]);
writeFileSync(large, '');
truncateSync(large, MAX_FILE_BYTES + 1);

afterAll(() => rmSync(folder, { recursive: true }));

/** Both functions behave the same. */
const ways = [
  ['at once', async (path: string) => readWatched(path)],
  ['later', readWatchedAsync],
] as const;

test.each(ways)('reads a regular file, %s', async (_, read) => {
  const path = join(folder, 'plain');
  writeFileSync(path, 'content');

  expect((await read(path)).toString()).toBe('content');
});

test.each(
  ways.flatMap(([when, read]) => [
    [fifo, when, `${fifo} is not a regular file`, read] as const,
    [folder, when, 'is not a regular file', read] as const,
    ['/dev/zero', when, '/dev/zero is not a regular file', read] as const,
    [
      large,
      when,
      `is too large: ${MAX_FILE_BYTES + 1} bytes, at most ${MAX_FILE_BYTES}`,
      read,
    ] as const,
    [SIZELESS, when, `is too large: more than ${MAX_FILE_BYTES} bytes, at most`, read] as const,
    [join(folder, 'none'), when, 'ENOENT', read] as const,
  ]),
)('refuses %s, %s', async (path, _, sentence, read) => {
  await expect(read(path)).rejects.toThrow(sentence);
});
