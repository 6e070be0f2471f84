import { afterEach, beforeEach, expect, test } from 'bun:test';
import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '../clock/manual-clock.ts';
import { POLL_MS, watchFile, type WatchedFile } from './watched-file.ts';

let folder = '';
let watched: WatchedFile | undefined;
let contents: string[] = [];
let errors: Error[] = [];
const clock = new ManualClock();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'snicket-watched-'));
  contents = [];
  errors = [];
});

afterEach(() => {
  watched?.stop();
  rmSync(folder, { recursive: true, force: true });
});

function startWatch(path: string, initialContent?: Uint8Array) {
  watched = watchFile(path, {
    onContent: (bytes) => contents.push(bytes.toString()),
    onError: (error) => errors.push(error),
    clock,
    initialContent,
  });
}

async function until(
  condition: () => boolean | Promise<boolean>,
  description: string,
  deadlineMs = 200_000,
) {
  const end = performance.now() + deadlineMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`not within ${deadlineMs} ms: ${description}`);
    await Bun.sleep(1);
  }
}

/** Writes one more change, waits until it is reported, and returns the contents that were reported before. */
async function contentsSoFar(path: string) {
  const count = contents.length;
  writeFileSync(path, 'the end');
  await until(() => contents.at(-1) === 'the end', 'the last content');
  return contents.slice(0, Math.max(count, contents.length - 1));
}

test('reports the final content of a file that is written in place', async () => {
  const path = join(folder, 'file');
  writeFileSync(path, 'one');
  startWatch(path);
  // Uses a rename, because the first poll may still be running and could read an empty file.
  writeFileSync(`${path}.new`, 'two');
  renameSync(`${path}.new`, path);
  await until(() => contents.at(-1) === 'two', 'the end of the first check');
  const before = contents.length;

  writeFileSync(path, 'three');
  await until(() => contents.length > before, 'the new content');

  expect(contents.at(-1)).toBe('three');
  expect(errors).toEqual([]);
});

test('reports the new content after each rename', async () => {
  const path = join(folder, 'file');
  writeFileSync(path, 'one');
  startWatch(path);

  for (const text of ['two', 'three']) {
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
    await until(() => contents.at(-1) === text, text);
  }

  expect(contents).toEqual(['two', 'three']);
});

test('reports updates of a Kubernetes volume, which replaces the link ..data', async () => {
  const version = (name: string, text: string) => {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'file'), text);
    symlinkSync(name, join(folder, '..data_tmp'));
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
  };
  version('..1', 'one');
  symlinkSync('..data/file', join(folder, 'file'));
  startWatch(join(folder, 'file'));

  version('..2', 'two');
  await until(() => contents.length > 0, 'the second version');
  version('..3', 'three');
  await until(() => contents.length > 1, 'the third version');

  expect(contents).toEqual(['two', 'three']);
});

test('reports nothing when a file is touched or another file in the directory changes', async () => {
  const path = join(folder, 'file');
  writeFileSync(path, 'one');
  startWatch(path);

  writeFileSync(path, 'one');
  writeFileSync(join(folder, 'neighbor'), 'x');

  expect((await contentsSoFar(path)).filter((text) => text !== '')).toEqual([]);
});

test('reports a change that happened before the watch started', async () => {
  const path = join(folder, 'file');
  writeFileSync(path, 'two');
  startWatch(path, Buffer.from('one'));

  await until(() => contents.length > 0, 'the change');

  expect(contents).toEqual(['two']);
});

test('reports a removed file once, and reports its content again when it returns', async () => {
  const path = join(folder, 'file');
  writeFileSync(path, 'one');
  startWatch(path);

  unlinkSync(path);
  await until(() => errors.length > 0, 'the error');
  writeFileSync(join(folder, 'neighbor'), 'x');
  writeFileSync(`${path}.new`, 'one');
  renameSync(`${path}.new`, path);
  await until(() => contents.length > 0, 'the content');

  expect(errors.map((error) => 'code' in error && error.code)).toEqual(['ENOENT']);
  expect(contents).toEqual(['one']);
});

test('starts with a file and a directory that do not exist yet', async () => {
  const path = join(folder, 'later', 'file');
  startWatch(path);
  await until(() => errors.length > 0, 'the error');

  mkdirSync(join(folder, 'later'));
  // Uses a rename, because the first poll may still be running and could read an empty file.
  writeFileSync(`${path}.new`, 'one');
  renameSync(`${path}.new`, path);
  clock.advance(POLL_MS);
  await until(() => contents.length > 0, 'the content');
  writeFileSync(path, 'two');
  await until(() => contents.at(-1) === 'two', 'an event of the new directory');

  expect(contents[0]).toBe('one');
});

test('reports a missing directory once, and again after it was created and removed', async () => {
  const path = join(folder, 'later', 'file');
  const poll = async () => {
    clock.advance(POLL_MS);
    await readFile(path).catch(() => {}); // completes after the read of the poll
  };
  startWatch(path);

  for (let count = 0; count < 5; count++) await poll();
  const atFirst = errors.length;
  mkdirSync(join(folder, 'later'));
  writeFileSync(path, 'one');
  await until(async () => {
    await poll();
    return contents.length > 0;
  }, 'the content');
  rmSync(join(folder, 'later'), { recursive: true });
  await until(() => errors.length > atFirst, 'the second report');
  for (let count = 0; count < 5; count++) await poll();

  expect(atFirst).toBe(1);
  expect(errors.map((error) => 'code' in error && error.code)).toEqual(['ENOENT', 'ENOENT']);
});

test('keeps watching when its directory is replaced', async () => {
  mkdirSync(join(folder, 'here'));
  const path = join(folder, 'here', 'file');
  writeFileSync(path, 'one');
  startWatch(path);

  rmSync(join(folder, 'here'), { recursive: true });
  await until(() => errors.length > 0, 'the error');
  mkdirSync(join(folder, 'here'));
  writeFileSync(path, 'two');
  clock.advance(POLL_MS);
  await until(() => contents.at(-1) === 'two', 'the new content');
  writeFileSync(path, 'three');

  await until(() => contents.at(-1) === 'three', 'an event of the new directory');
});

test('finds changes behind a link to another directory by polling', async () => {
  mkdirSync(join(folder, 'here'));
  mkdirSync(join(folder, 'there'));
  writeFileSync(join(folder, 'there', 'file'), 'one');
  symlinkSync('../there/file', join(folder, 'here', 'file'));
  startWatch(join(folder, 'here', 'file'));

  // Uses a rename, because a running poll could read an empty file.
  writeFileSync(join(folder, 'there', 'new'), 'two');
  renameSync(join(folder, 'there', 'new'), join(folder, 'there', 'file'));
  await until(() => {
    clock.advance(POLL_MS);
    return contents.length > 0;
  }, 'the change');

  expect(contents).toEqual(['two']);
});

test('reports an exception of the callback, and keeps watching', async () => {
  const path = join(folder, 'file');
  writeFileSync(path, 'one');
  watched = watchFile(path, {
    onContent: (bytes) => {
      if (bytes.toString() === 'bad') throw new Error('cannot use it');
      contents.push(bytes.toString());
    },
    onError: (error) => errors.push(error),
    clock,
  });

  writeFileSync(`${path}.new`, 'bad');
  renameSync(`${path}.new`, path);
  await until(() => errors.length > 0, 'the error');
  writeFileSync(`${path}.new`, 'good');
  renameSync(`${path}.new`, path);
  await until(() => contents.length > 0, 'the valid content');

  expect(errors[0]?.message).toBe('cannot use it');
  expect(contents).toEqual(['good']);
});

test('reports a FIFO or a device in place of the file, and reads regular files after them', async () => {
  const path = join(folder, 'file');
  writeFileSync(path, 'one');
  startWatch(path);

  Bun.spawnSync(['mkfifo', `${path}.fifo`]);
  renameSync(`${path}.fifo`, path);
  await until(() => errors.length > 0, 'the FIFO');
  writeFileSync(`${path}.new`, 'two');
  renameSync(`${path}.new`, path);
  await until(() => contents.length > 0, 'the content after it');
  symlinkSync('/dev/zero', `${path}.zero`);
  renameSync(`${path}.zero`, path);
  await until(() => errors.length > 1, 'the device');

  expect(contents).toEqual(['two']);
  for (const error of errors) expect(error.message).toContain(`${path} is not a regular file`);
});

test('reports nothing after it was stopped', async () => {
  const path = join(folder, 'file');
  writeFileSync(path, 'one');
  startWatch(path);
  watched?.stop();
  startWatch(join(folder, 'file'));
  const second = watched;
  let calls = 0;
  watched = watchFile(path, { onContent: () => void calls++, onError: () => {}, clock });

  second?.stop();
  writeFileSync(path, 'two');
  await until(() => calls > 0, 'a call of another watch');

  expect(contents).toEqual([]);
});
