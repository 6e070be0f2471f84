import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test';
import * as fs from 'node:fs';
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileExists, writeAtomically } from './atomic-write.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'snicket-atomic-'));
  path = join(folder, 'file');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Each combination of options, with and without hard links. */
const CASES = [
  ['replacing a file', { mayReplace: true }, false],
  ['replacing a file durably', { isDurable: true }, false],
  ['creating a file', { mayReplace: false }, false],
  ['creating a file without hard links', { mayReplace: false }, true],
] as const;

/** Simulates a file system without hard links, because mounting one needs root. */
function withoutLinks(hasNone: boolean): Disposable {
  if (!hasNone) return { [Symbol.dispose]: () => undefined };
  return spyOn(fs, 'linkSync').mockImplementation(() => {
    throw Object.assign(new Error('EPERM: operation not permitted, link'), {
      code: 'EPERM',
      errno: -1,
    });
  });
}

test.each(CASES)('writes a file that only its owner can read, %s', (_, options, hasNoLinks) => {
  using _links = withoutLinks(hasNoLinks);

  writeAtomically(path, 'text', options);

  expect(readFileSync(path, 'utf8')).toBe('text');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['file']);
});

test('replaces a file instead of overwriting it, because another process may have it open', () => {
  const other = join(folder, 'other');
  writeFileSync(path, 'old', { mode: 0o644 });
  linkSync(path, other);

  writeAtomically(path, 'new');

  expect(readFileSync(path, 'utf8')).toBe('new');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readFileSync(other, 'utf8')).toBe('old');
});

describe.each([false, true])('with mayReplace: false (no hard links: %p)', (hasNoLinks) => {
  test('leaves an existing file unchanged', () => {
    using _links = withoutLinks(hasNoLinks);
    writeFileSync(path, 'existing');

    const write = () => writeAtomically(path, 'text', { mayReplace: false });

    expect(write).toThrow(FileExists);
    expect(write).toThrow(`${path} already exists`);
    expect(readFileSync(path, 'utf8')).toBe('existing');
    expect(readdirSync(folder)).toEqual(['file']);
  });

  test('does not follow a broken symbolic link', () => {
    using _links = withoutLinks(hasNoLinks);
    symlinkSync('elsewhere', path);

    expect(() => writeAtomically(path, 'text', { mayReplace: false })).toThrow(FileExists);

    expect(readdirSync(folder)).toEqual(['file']);
  });
});

describe('a failed write', () => {
  /** Exceeds the file size limit in a child process. Returns the error code. */
  function writeTooMuch(options: object): string {
    const code = `
      const { writeAtomically } = await import(${JSON.stringify(join(import.meta.dir, 'atomic-write.ts'))});
      try {
        writeAtomically(${JSON.stringify(path)}, 'x'.repeat(1e6), ${JSON.stringify(options)});
      } catch (error) {
        process.stdout.write(error.code);
      }`;
    // The limit is in blocks. Without the trap, SIGXFSZ would kill the process.
    const command = ['sh', '-c', `trap '' XFSZ; ulimit -f 1; exec "$0" -e "$1"`];
    return Bun.spawnSync([...command, process.execPath, code]).stdout.toString();
  }

  test.each([{ mayReplace: true }, { isDurable: true }, { mayReplace: false }])(
    'removes the temporary file, with %j',
    (options) => {
      expect(writeTooMuch(options)).toBe('EFBIG');

      expect(readdirSync(folder)).toEqual([]);
    },
  );

  test('removes both files without hard links and without space for a second copy', () => {
    using _links = withoutLinks(true);
    const { writeFileSync: writeReal } = fs;
    using write = spyOn(fs, 'writeFileSync');
    write.mockImplementationOnce((descriptor, text) => writeReal(descriptor, text));
    write.mockImplementationOnce((descriptor) => {
      writeReal(descriptor, 'te');
      throw Object.assign(new Error('ENOSPC: no space left on device'), {
        code: 'ENOSPC',
        errno: -28,
      });
    });

    expect(() => writeAtomically(path, 'text', { mayReplace: false })).toThrow('ENOSPC');

    expect(write).toHaveBeenCalledTimes(2);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('keeps the previous file', () => {
    writeFileSync(path, 'old');

    expect(writeTooMuch({})).toBe('EFBIG');

    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(readdirSync(folder)).toEqual(['file']);
  });

  test('in the last step removes the temporary file, and has the same message each time', () => {
    mkdirSync(join(path, 'not empty'), { recursive: true });
    const failure = () => {
      try {
        writeAtomically(path, 'text');
      } catch (error) {
        return String(error);
      }
      return 'nothing';
    };

    const [first, second] = [failure(), failure()];

    expect(first).toMatch(/EISDIR|ENOTEMPTY/);
    expect(second).toBe(first);
    expect(readdirSync(folder)).toEqual(['file']);
  });

  test('does not change an existing temporary file', () => {
    using open = spyOn(fs, 'openSync');
    writeAtomically(path, 'first');
    const temporary = String(open.mock.calls[0]?.[0]);
    writeFileSync(temporary, 'of another process');

    expect(() => writeAtomically(path, 'second')).toThrow('EEXIST');

    expect(readFileSync(temporary, 'utf8')).toBe('of another process');
    expect(readFileSync(path, 'utf8')).toBe('first');
  });
});
