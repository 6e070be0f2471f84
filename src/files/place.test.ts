import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { placeOf } from './place.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'snicket-place-')));
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
])('%s leads to %s', (path, place) => {
  expect(placeOf(join(root, path))).toBe(join(root, place));
});

test('a path from here is followed as one from the root', () => {
  expect(placeOf(relative(process.cwd(), join(root, 'link')))).toBe(join(root, 'folder'));
  expect(placeOf('/')).toBe('/');
});
