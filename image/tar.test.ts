import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { lstatSync, mkdtempSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tar, type TarEntry } from './tar.ts';
import { unpack } from './testing/layout.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'snicket-tar-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const file = (path: string, content: string | Uint8Array, mode = 0o644): TarEntry => {
  return { kind: 'file', path, content: Buffer.from(content), mode };
};

test("the system's tar finds files, folders and links with their modes", () => {
  const archive = tar([
    { kind: 'folder', path: '/tmp', mode: 0o1777 },
    { kind: 'folder', path: '/bin', mode: 0o755 },
    file('/bin/hello', '#!/bin/sh\n', 0o755),
    file('/empty', ''),
    file('/block', Buffer.alloc(1024, 'x'), 0o600),
    { kind: 'link', path: '/bin/hi', target: 'hello' },
  ]);

  const root = unpack(archive, join(folder, 'root'));

  const mode = (path: string): number => lstatSync(join(root, path)).mode & 0o7777;
  expect(mode('tmp')).toBe(0o1777);
  expect(mode('bin')).toBe(0o755);
  expect(mode('bin/hello')).toBe(0o755);
  expect(mode('block')).toBe(0o600);
  expect(readFileSync(join(root, 'bin/hello'), 'utf8')).toBe('#!/bin/sh\n');
  expect(readFileSync(join(root, 'empty'), 'utf8')).toBe('');
  expect(readFileSync(join(root, 'block'))).toEqual(Buffer.alloc(1024, 'x'));
  expect(readlinkSync(join(root, 'bin/hi'))).toBe('hello');
});

test('all entries belong to root and have a modification time of 1970', () => {
  const archive = tar([file('/hello', 'hello')]);

  const listing = Bun.spawnSync(['tar', '--list', '--verbose', '--numeric-owner', '--utc'], {
    stdin: archive,
  });

  expect(listing.stdout.toString()).toContain('0/0');
  expect(listing.stdout.toString()).toContain('1970-01-01 00:00');
});

describe('a path', () => {
  test('may have 100 bytes', () => {
    const path = `/${'x'.repeat(100)}`;
    const target = 'y'.repeat(100);

    const root = unpack(tar([{ kind: 'link', path, target }]), join(folder, 'root'));

    expect(readlinkSync(join(root, path))).toBe(target);
  });

  test('of more than 100 bytes is rejected with its name, even with fewer characters', () => {
    const path = `/${'ü'.repeat(51)}`;

    expect(() => tar([file(path, '')])).toThrow(`'${path}' is too long`);
  });

  test('of more than 100 bytes is rejected with its name as the target of a link', () => {
    const target = `/${'y'.repeat(100)}`;

    expect(() => tar([{ kind: 'link', path: '/hi', target }])).toThrow(`'${target}' is too long`);
  });
});
