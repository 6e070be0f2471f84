import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listFiles } from './list-files.ts';

let folder: string;

beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'snicket-list-'))));
afterEach(() => rmSync(folder, { recursive: true }));

test('names a folder that is nested too deeply', async () => {
  const deep = Array<string>(17).fill('deeper').join('/');
  mkdirSync(join(folder, deep), { recursive: true });

  await expect(listFiles(folder, new AbortController().signal)).rejects.toThrow(
    `${folder} has folders nested more than 16 deep, such as ${deep}; pass a folder that contains only`,
  );
});

test('names a folder if there are too many', async () => {
  for (let at = 0; at < 50; at++) mkdirSync(join(folder, 'many', `${at}`), { recursive: true });

  await expect(listFiles(folder, new AbortController().signal, 50)).rejects.toThrow(
    /has more than 50 subfolders, counted up to many\/\d+; pass a folder/,
  );
});
