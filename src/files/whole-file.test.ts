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
import { FileExists, writeWhole } from './whole-file.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'snicket-whole-'));
  path = join(folder, 'file');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Each way to write, and that on a file system that has no hard links. */
const WAYS = [
  ['in place of what is there', { mayReplace: true }, false],
  ['in place of what is there, for good', { isDurable: true }, false],
  ['where nothing is', { mayReplace: false }, false],
  ['where nothing is, without hard links', { mayReplace: false }, true],
] as const;

/** A file system cannot be mounted by every user, so that one without hard links is played. */
function withoutLinks(hasNone: boolean): Disposable {
  if (!hasNone) return { [Symbol.dispose]: () => undefined };
  return spyOn(fs, 'linkSync').mockImplementation(() => {
    throw Object.assign(new Error('EPERM: operation not permitted, link'), {
      code: 'EPERM',
      errno: -1,
    });
  });
}

test.each(WAYS)('writes a file that only its owner can read, %s', (_, options, hasNoLinks) => {
  using _links = withoutLinks(hasNoLinks);

  writeWhole(path, 'text', options);

  expect(readFileSync(path, 'utf8')).toBe('text');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['file']);
});

test('replaces a file, and does not write into it: others may have it open', () => {
  const other = join(folder, 'other');
  writeFileSync(path, 'old', { mode: 0o644 });
  linkSync(path, other);

  writeWhole(path, 'new');

  expect(readFileSync(path, 'utf8')).toBe('new');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readFileSync(other, 'utf8')).toBe('old');
});

describe.each([false, true])('where it may not replace (without hard links: %p)', (hasNoLinks) => {
  test('a file stays as it is', () => {
    using _links = withoutLinks(hasNoLinks);
    writeFileSync(path, 'precious');

    const write = () => writeWhole(path, 'text', { mayReplace: false });

    expect(write).toThrow(FileExists);
    expect(write).toThrow(`${path} is there already`);
    expect(readFileSync(path, 'utf8')).toBe('precious');
    expect(readdirSync(folder)).toEqual(['file']);
  });

  test('a link that leads nowhere is not followed', () => {
    using _links = withoutLinks(hasNoLinks);
    symlinkSync('elsewhere', path);

    expect(() => writeWhole(path, 'text', { mayReplace: false })).toThrow(FileExists);

    expect(readdirSync(folder)).toEqual(['file']);
  });
});

describe('a write that fails', () => {
  /** Writes more than a file may have, in a process of its own. The code of the error. */
  function writeTooMuch(options: object): string {
    const code = `
      const { writeWhole } = await import(${JSON.stringify(join(import.meta.dir, 'whole-file.ts'))});
      try {
        writeWhole(${JSON.stringify(path)}, 'x'.repeat(1e6), ${JSON.stringify(options)});
      } catch (error) {
        process.stdout.write(error.code);
      }`;
    // The limit is in blocks; without the trap its signal would end the process.
    const words = ['sh', '-c', `trap '' XFSZ; ulimit -f 1; exec "$0" -e "$1"`];
    return Bun.spawnSync([...words, process.execPath, code]).stdout.toString();
  }

  test.each([{ mayReplace: true }, { isDurable: true }, { mayReplace: false }])(
    'leaves nothing behind, with %j',
    (options) => {
      expect(writeTooMuch(options)).toBe('EFBIG');

      expect(readdirSync(folder)).toEqual([]);
    },
  );

  test('leaves nothing behind, where there are no hard links and no room for the text once more', () => {
    using _links = withoutLinks(true);
    const { writeFileSync: really } = fs;
    using write = spyOn(fs, 'writeFileSync');
    write.mockImplementationOnce((descriptor, text) => really(descriptor, text));
    write.mockImplementationOnce((descriptor) => {
      really(descriptor, 'te');
      throw Object.assign(new Error('ENOSPC: no space left on device'), {
        code: 'ENOSPC',
        errno: -28,
      });
    });

    expect(() => writeWhole(path, 'text', { mayReplace: false })).toThrow('ENOSPC');

    expect(write).toHaveBeenCalledTimes(2);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('leaves the old file', () => {
    writeFileSync(path, 'old');

    expect(writeTooMuch({})).toBe('EFBIG');

    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(readdirSync(folder)).toEqual(['file']);
  });

  test('at the last step leaves nothing beside, and is told in the same words each time', () => {
    mkdirSync(join(path, 'not empty'), { recursive: true });
    const said = () => {
      try {
        writeWhole(path, 'text');
      } catch (error) {
        return String(error);
      }
      return 'nothing';
    };

    const [first, second] = [said(), said()];

    expect(first).toMatch(/EISDIR|ENOTEMPTY/);
    expect(second).toBe(first);
    expect(readdirSync(folder)).toEqual(['file']);
  });

  test('because of a file that somebody else put beside leaves that one', () => {
    using open = spyOn(fs, 'openSync');
    writeWhole(path, 'first');
    const beside = String(open.mock.calls[0]?.[0]);
    writeFileSync(beside, 'of somebody else');

    expect(() => writeWhole(path, 'second')).toThrow('EEXIST');

    expect(readFileSync(beside, 'utf8')).toBe('of somebody else');
    expect(readFileSync(path, 'utf8')).toBe('first');
  });
});
