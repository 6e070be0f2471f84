import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { realPathOf } from './real-path.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'snicket-real-path-')));
mkdirSync(join(root, 'folder', 'inner'), { recursive: true });
writeFileSync(join(root, 'file'), '');
symlinkSync('folder', join(root, 'link'));
symlinkSync('nowhere', join(root, 'broken'));
symlinkSync('loop', join(root, 'loop'));

afterAll(() => rmSync(root, { recursive: true }));

test.each([
  ['folder', 'folder'],
  ['link', 'folder'],
  ['link/inner/..', 'folder'],
  ['link/inner', 'folder/inner'],
  ['link/none/at/all', 'folder/none/at/all'],
  ['none', 'none'],
  ['file/none', 'file/none'],
  ['broken/none', 'broken/none'],
  ['loop/none', 'loop/none'],
])('resolves %s to %s', (path, resolved) => {
  expect(realPathOf(join(root, path))).toBe(join(root, resolved));
});

test('resolves a relative path, and the root', () => {
  expect(realPathOf(relative(process.cwd(), join(root, 'link')))).toBe(join(root, 'folder'));
  expect(realPathOf('/')).toBe('/');
});
