import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultStateFolder, prepareStateFolder } from './state-folder.ts';

let root: string;
let folder: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'snicket-state-'));
  folder = join(root, 'folder');
  mkdirSync(folder);
});
afterEach(() => rmSync(root, { recursive: true }));

test('creates a folder that only its owner can read', () => {
  const state = join(root, 'a', 'state');

  prepareStateFolder(state, folder);

  expect(statSync(state).mode & 0o777).toBe(0o700);
});

test('does not change other files, such as an access log', () => {
  const state = join(root, 'state');
  prepareStateFolder(state, folder);
  writeFileSync(join(state, 'access.log'), '');
  chmodSync(join(state, 'access.log'), 0o644);

  expect(() => prepareStateFolder(state, folder)).not.toThrow();
});

describe('rejects', () => {
  test.each([0o755, 0o750, 0o770, 0o701, 0o702])(
    'a folder with mode %o, and shows the command to run',
    (mode) => {
      const state = join(root, 'state');
      mkdirSync(state);
      chmodSync(state, mode);

      expect(() => prepareStateFolder(state, folder)).toThrow(
        `${state} has the mode ${mode.toString(8)}: other users could read the keys of tenants; run: chmod 700 ${state}`,
      );
    },
  );

  test('a file in it that other users can read', () => {
    const state = join(root, 'state');
    prepareStateFolder(state, folder);
    writeFileSync(join(state, 'master.key'), '', { mode: 0o600 });
    prepareStateFolder(state, folder);

    chmodSync(join(state, 'master.key'), 0o640);

    expect(() => prepareStateFolder(state, folder)).toThrow(`run: chmod 600 ${state}/master.key`);
  });

  test('a link to a folder that other users can access, or to such a file', () => {
    const [state, open, file] = [join(root, 'state'), join(root, 'open'), join(root, 'file')];
    mkdirSync(open);
    chmodSync(open, 0o777);
    symlinkSync(open, state);

    expect(() => prepareStateFolder(state, folder)).toThrow(`run: chmod 700 ${state}`);

    chmodSync(open, 0o700);
    writeFileSync(file, '');
    chmodSync(file, 0o644);
    symlinkSync(file, join(open, 'objects.db'));

    expect(() => prepareStateFolder(state, folder)).toThrow(`run: chmod 600 ${state}/objects.db`);
  });

  test('a database that is not a regular file', () => {
    const state = join(root, 'state');
    prepareStateFolder(state, folder);
    Bun.spawnSync(['mkfifo', '-m', '600', join(state, 'objects.db')]);

    expect(() => prepareStateFolder(state, folder)).toThrow(
      `${state}/objects.db is not a regular file; move it away`,
    );
  });

  // Root can read and write with any mode, unless it drops its capabilities.
  const isRoot = process.getuid?.() === 0;
  const withoutRoot = isRoot ? ['setpriv', '--bounding-set', '-all', '--inh-caps', '-all'] : [];

  test.skipIf(isRoot && Bun.which('setpriv') === null).each([
    ['objects.db', 0o400, '600'],
    ['objects.db-wal', 0o200, '600'],
    ['.', 0o500, '700'],
  ])(
    '%s with a mode that denies this process access, and shows the command to run',
    (name, mode, right) => {
      const state = join(root, 'state');
      const path = join(state, name);
      prepareStateFolder(state, folder);
      if (name !== '.') writeFileSync(path, '', { mode: 0o600 });
      chmodSync(path, mode);
      const code = `
      const { prepareStateFolder } = await import(${JSON.stringify(join(import.meta.dir, 'state-folder.ts'))});
      try {
        prepareStateFolder(${JSON.stringify(state)}, ${JSON.stringify(folder)});
      } catch (error) {
        console.log(error.message);
      }`;

      const { stdout } = Bun.spawnSync([...withoutRoot, process.execPath, '-e', code]);

      expect(stdout.toString()).toBe(
        `${path} has the mode ${mode.toString(8)}: this process cannot read and write it; run: chmod ${right} ${path}\n`,
      );
      chmodSync(path, 0o700);
    },
  );

  // Only root can change the owner of a folder.
  test.skipIf(process.getuid?.() !== 0)('a folder of another user', () => {
    const state = join(root, 'state');
    mkdirSync(state, { mode: 0o700 });
    chownSync(state, 4711, 4711);

    expect(() => prepareStateFolder(state, folder)).toThrow(
      `${state} belongs to user 4711, but this process runs as user 0; run: chown 0 ${state}`,
    );
  });

  test('a state folder inside the folder', () => {
    expect(() => prepareStateFolder(join(folder, 'state'), folder)).toThrow(
      'pass another directory',
    );
    expect(() => prepareStateFolder(folder, folder)).toThrow('pass another directory with --state');
    expect(() => prepareStateFolder(join(folder, '.state'), folder)).not.toThrow();
    expect(() => prepareStateFolder(`${folder}-state`, folder)).not.toThrow();
  });

  test('a state folder that is inside the folder because of a link', () => {
    const [link, back, outside] = [join(root, 'link'), join(root, 'back'), join(root, 'outside')];
    symlinkSync(folder, link);
    mkdirSync(join(folder, 'inner'));
    symlinkSync(join(folder, 'inner'), back);
    mkdirSync(outside, { mode: 0o700 });
    symlinkSync(outside, join(folder, 'out'));

    for (const [state, given] of [
      [join(folder, 'state'), link],
      [join(folder, 'a', 'state'), link],
      [join(link, 'state'), folder],
      [back, folder],
      [join(back, 'state'), folder],
      [join(folder, 'out'), folder],
    ] as const) {
      expect(() => prepareStateFolder(state, given)).toThrow(
        `the state ${state} is inside the folder`,
      );
    }
    expect(() => prepareStateFolder(join(folder, '.state'), link)).not.toThrow();
    expect(() => prepareStateFolder(outside, link)).not.toThrow();
  });

  test('a file instead of a folder', () => {
    const state = join(root, 'state');
    writeFileSync(state, '');

    expect(() => prepareStateFolder(state, folder)).toThrow(`the state ${state} cannot be used`);
  });
});

test.each([
  [{ STATE_DIRECTORY: '/var/lib/snicket:/var/lib/other' }, '/var/lib/snicket'],
  [{ XDG_STATE_HOME: '/home/a/state' }, '/home/a/state/snicket'],
  [{ STATE_DIRECTORY: '', XDG_STATE_HOME: '' }, join(homedir(), '.local/state/snicket')],
])('with %o, the state is in %s', (environment, state) => {
  expect(defaultStateFolder(environment)).toBe(state);
});
