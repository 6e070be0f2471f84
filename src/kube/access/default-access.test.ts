import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { stringify } from 'yaml';
import { defaultAccess } from './default-access.ts';

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'home-'));
});

afterEach(() => rmSync(home, { recursive: true }));

/** Writes a kubeconfig and returns its path. */
function write(path: string, content: object): string {
  const full = join(home, path);
  mkdirSync(join(full, '..'), { recursive: true });
  writeFileSync(full, stringify(content));
  return full;
}

function single(name: string, more: object = {}): object {
  return {
    'current-context': name,
    clusters: [{ name, cluster: { server: `https://${name}:6443` } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    users: [{ name, user: { token: `token of ${name}` } }],
    ...more,
  };
}

describe('the default kubeconfig', () => {
  test('is the file that is passed, before all others', () => {
    write('.kube/config', single('at-home'));
    const listed = write('listed', single('listed'));
    const named = write('named', single('named'));

    const access = defaultAccess({ kubeconfig: named, env: { KUBECONFIG: listed }, home });

    expect(access.server).toBe('https://named:6443');
  });

  test('is that of $KUBECONFIG, before ~/.kube/config', () => {
    write('.kube/config', single('at-home'));
    const listed = write('listed', single('listed'));

    const access = defaultAccess({ env: { KUBECONFIG: listed }, home });

    expect(access.server).toBe('https://listed:6443');
  });

  test('is ~/.kube/config if there is no other', () => {
    write('.kube/config', single('at-home'));

    expect(defaultAccess({ env: {}, home }).server).toBe('https://at-home:6443');
  });

  test('uses the context that is passed', () => {
    const twoFiles = [write('a', single('a')), write('b', single('b'))].join(delimiter);

    const access = defaultAccess({ context: 'b', env: { KUBECONFIG: twoFiles }, home });

    expect(access.server).toBe('https://b:6443');
    expect(access.credentials).toEqual({ kind: 'token', token: 'token of b' });
  });

  test('is the file that the kernel finds for a path with a symlink before ..', () => {
    write('real/config', single('behind-the-link'));
    write('config', single('beside-the-link'));
    mkdirSync(join(home, 'real/sub'));
    symlinkSync('real/sub', join(home, 'link'));

    const access = defaultAccess({ kubeconfig: `${home}/link/../config`, env: {}, home });

    expect(access.server).toContain('behind-the-link');
  });

  test('is not found under a path with a trailing slash', () => {
    const named = write('named', single('named'));

    expect(() => defaultAccess({ kubeconfig: `${named}/`, env: {}, home })).toThrow(
      `kubeconfig cannot be read: ${named}/`,
    );
  });
});

describe('several files of $KUBECONFIG', () => {
  test('are merged: the first value wins, and missing files are skipped', () => {
    const first = write('first', {
      clusters: [{ name: 'blue', cluster: { server: 'https://first:6443' } }],
    });
    const second = write('second', single('blue'));
    const KUBECONFIG = [join(home, 'missing'), first, second].join(delimiter);

    const access = defaultAccess({ env: { KUBECONFIG }, home });

    expect(access.server).toBe('https://first:6443');
    expect(access.credentials).toEqual({ kind: 'token', token: 'token of blue' });
  });

  test('resolve file names against their own folder', () => {
    const first = write('one/config', { 'current-context': 'blue' });
    const users = [{ name: 'blue', user: { tokenFile: 'token' } }];
    const second = write('two/config', single('blue', { users }));

    const access = defaultAccess({ env: { KUBECONFIG: `${first}${delimiter}${second}` }, home });

    expect(access.credentials).toEqual({ kind: 'token-file', path: join(home, 'two/token') });
  });
});

describe('the error without a usable kubeconfig', () => {
  test('names the missing file that was passed', () => {
    expect(() => defaultAccess({ kubeconfig: join(home, 'x'), env: {}, home })).toThrow(
      `kubeconfig not found: ${join(home, 'x')}`,
    );
  });

  test('lists the missing files of $KUBECONFIG, even if ~/.kube/config exists', () => {
    write('.kube/config', single('at-home'));

    expect(() => defaultAccess({ env: { KUBECONFIG: '/a/b:/c/d' }, home })).toThrow(
      'kubeconfig not found: /a/b:/c/d (from $KUBECONFIG); pass --kubeconfig FILE',
    );
  });

  test('says what to pass if there is no kubeconfig', () => {
    expect(() => defaultAccess({ env: {}, home })).toThrow('no cluster configured');
  });

  test('describes a file that is not a kubeconfig', () => {
    const notes = join(home, 'notes.txt');
    writeFileSync(notes, 'hunter2');

    expect(() => defaultAccess({ kubeconfig: notes, env: {}, home })).toThrow(
      `${notes} is not a valid kubeconfig: expected a mapping with clusters, users and contexts, found a single string`,
    );
  });

  test('names an existing file that cannot be read', () => {
    mkdirSync(join(home, '.kube/config'), { recursive: true });

    expect(() => defaultAccess({ env: {}, home })).toThrow('cannot be read');
  });
});
