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

describe('which kubeconfig is taken', () => {
  test('the one that is named, before all others', () => {
    write('.kube/config', single('at-home'));
    const listed = write('listed', single('listed'));
    const named = write('named', single('named'));

    const access = defaultAccess({ kubeconfig: named, env: { KUBECONFIG: listed }, home });

    expect(access.server).toBe('https://named:6443');
  });

  test('those of $KUBECONFIG before the one at home', () => {
    write('.kube/config', single('at-home'));
    const listed = write('listed', single('listed'));

    const access = defaultAccess({ env: { KUBECONFIG: listed }, home });

    expect(access.server).toBe('https://listed:6443');
  });

  test('the one at home', () => {
    write('.kube/config', single('at-home'));

    expect(defaultAccess({ env: {}, home }).server).toBe('https://at-home:6443');
  });

  test('with the context that is named', () => {
    const both = [write('a', single('a')), write('b', single('b'))].join(delimiter);

    const access = defaultAccess({ context: 'b', env: { KUBECONFIG: both }, home });

    expect(access.server).toBe('https://b:6443');
    expect(access.credentials).toEqual({ kind: 'token', token: 'token of b' });
  });

  test('is the file that the kernel finds behind a symlink and ..', () => {
    write('real/config', single('behind-the-link'));
    write('config', single('beside-the-link'));
    mkdirSync(join(home, 'real/sub'));
    symlinkSync('real/sub', join(home, 'link'));

    const access = defaultAccess({ kubeconfig: `${home}/link/../config`, env: {}, home });

    expect(access.server).toContain('behind-the-link');
  });

  test('is no file whose name ends like that of a folder', () => {
    const named = write('named', single('named'));

    expect(() => defaultAccess({ kubeconfig: `${named}/`, env: {}, home })).toThrow(
      `kubeconfig cannot be read: ${named}/`,
    );
  });
});

describe('several files as one', () => {
  test('the first that says something decides, and those that are not there are passed over', () => {
    const first = write('first', {
      clusters: [{ name: 'blue', cluster: { server: 'https://first:6443' } }],
    });
    const second = write('second', single('blue'));
    const KUBECONFIG = [join(home, 'missing'), first, second].join(delimiter);

    const access = defaultAccess({ env: { KUBECONFIG }, home });

    expect(access.server).toBe('https://first:6443');
    expect(access.credentials).toEqual({ kind: 'token', token: 'token of blue' });
  });

  test('file names start from the file that has them', () => {
    const first = write('one/config', { 'current-context': 'blue' });
    const users = [{ name: 'blue', user: { tokenFile: 'token' } }];
    const second = write('two/config', single('blue', { users }));

    const access = defaultAccess({ env: { KUBECONFIG: `${first}${delimiter}${second}` }, home });

    expect(access.credentials).toEqual({ kind: 'token-file', path: join(home, 'two/token') });
  });
});

describe('what is said when there is none', () => {
  test('a file that is named and not there', () => {
    expect(() => defaultAccess({ kubeconfig: join(home, 'x'), env: {}, home })).toThrow(
      `kubeconfig not found: ${join(home, 'x')}`,
    );
  });

  test('none of $KUBECONFIG is there, even if there is one at home', () => {
    write('.kube/config', single('at-home'));

    expect(() => defaultAccess({ env: { KUBECONFIG: '/a/b:/c/d' }, home })).toThrow(
      'kubeconfig not found: /a/b:/c/d (from $KUBECONFIG); pass --kubeconfig FILE',
    );
  });

  test('nothing anywhere', () => {
    expect(() => defaultAccess({ env: {}, home })).toThrow('no cluster configured');
  });

  test('a file that is something else', () => {
    const notes = join(home, 'notes.txt');
    writeFileSync(notes, 'hunter2');

    expect(() => defaultAccess({ kubeconfig: notes, env: {}, home })).toThrow(
      `${notes} is not a valid kubeconfig: expected a mapping with clusters, users and contexts, found a single string`,
    );
  });

  test('a file that is there and cannot be read', () => {
    mkdirSync(join(home, '.kube/config'), { recursive: true });

    expect(() => defaultAccess({ env: {}, home })).toThrow('cannot be read');
  });
});
