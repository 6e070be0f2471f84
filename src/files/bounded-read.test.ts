import { afterAll, expect, test } from 'bun:test';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAtMost, readAtMostAsync } from './bounded-read.ts';

const folder = mkdtempSync(join(tmpdir(), 'snicket-bounded-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function readSyncAndAsync(path: string, maxBytes: number) {
  const descriptor = openSync(path, 'r');
  await using file = await open(path);
  const content = readAtMost(descriptor, maxBytes);
  closeSync(descriptor);
  return [content, await readAtMostAsync(file, maxBytes)];
}

test.each([0, 1, 65_535, 65_536, 65_537, 300_000])('reads a file of %d bytes', async (size) => {
  const path = join(folder, 'file');
  const content = Buffer.alloc(size, 'snicket');
  writeFileSync(path, content);

  for (const read of await readSyncAndAsync(path, size)) {
    expect(read?.equals(content)).toBeTrue();
  }
});

test('returns undefined for a file that is one byte over the limit', async () => {
  const path = join(folder, 'large');
  writeFileSync(path, Buffer.alloc(65_537));

  expect(await readSyncAndAsync(path, 65_536)).toEqual([undefined, undefined]);
});
