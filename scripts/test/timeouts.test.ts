/** Waits in tests fail after at most 200 s. The timeout of a test is longer, so that it only ends a test that hangs. */
import { expect, test } from 'bun:test';
import { relative, resolve } from 'node:path';

const ROOT = resolve(import.meta.dir, '../..');
const FILES = new Bun.Glob('{src,image,deploy,world,demo,bench,scripts,e2e/runner}/**/*.ts');
const MIN_TIMEOUT_MS = 240_000;
/** Matches the timeout of a file, or of one test as the last argument of `test`. */
const TIMEOUT = /^(?:setDefaultTimeout\((?<all>[\d_]+)\)|\s*\}, (?<one>[\d_]+)\);$)/gm;

test('no test has a timeout that a busy machine can exceed', async () => {
  const short: string[] = [];
  for await (const path of FILES.scan({ cwd: ROOT, absolute: true })) {
    const text = await Bun.file(path).text();
    if (!text.includes("from 'bun:test'")) continue;
    for (const { 0: line, groups } of text.matchAll(TIMEOUT)) {
      const ms = Number((groups?.['all'] ?? groups?.['one'] ?? '').replaceAll('_', ''));
      if (ms < MIN_TIMEOUT_MS) short.push(`${relative(ROOT, path)}: ${line.trim()}`);
    }
  }

  expect(short).toEqual([]);
});
