import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, symlinkSync, renameSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '../../clock/manual-clock.ts';
import { until } from '../../net/testing/peer.ts';
import { LiveFiles, RETRY_MS } from './live-files.ts';

/** Creates two files that are valid if their content is equal. */
function createLab() {
  const clock = new ManualClock();
  const folder = mkdtempSync(join(tmpdir(), 'snicket-live-files-'));
  const write = (name: string, content: string) => writeFileSync(join(folder, name), content);
  write('a', '1');
  write('b', '1');
  const reloaded: string[] = [];
  const errors: string[] = [];
  let recoveries = 0;
  let mismatches = 0;
  const live = (first = join(folder, 'a'), second = join(folder, 'b')) =>
    new LiveFiles<string>({
      paths: [first, second],
      parse: ([a, b]) => {
        if (a?.toString() === b?.toString()) return String(a);
        mismatches++;
        throw new Error(`${String(a)} is not ${String(b)}`);
      },
      onReload: (value) => reloaded.push(value),
      onRecovered: () => recoveries++,
      onError: (error) => errors.push(error.message),
      clock,
    });
  const removeFolder = () => rmSync(folder, { recursive: true });
  const recovered = () => recoveries;
  const mismatched = async () => until(() => mismatches > 0, 'a read of a mismatched pair');
  return {
    clock,
    folder,
    write,
    reloaded,
    errors,
    recovered,
    mismatched,
    live,
    [Symbol.dispose]: removeFolder,
  };
}

test('reads the files on creation', () => {
  using lab = createLab();

  expect(lab.live().value).toBe('1');
});

test('throws on creation if the files are invalid', () => {
  using lab = createLab();
  lab.write('b', '2');

  expect(() => lab.live()).toThrow('1 is not 2');
  expect(() => lab.live('/no/such/file')).toThrow(
    '/no/such/file cannot be read (ENOENT); specify an existing file',
  );
  expect(() => lab.live(lab.folder)).toThrow(`${lab.folder} is not a regular file`);
  expect(() => lab.live('/dev/zero')).toThrow('/dev/zero is not a regular file');
});

test('reloads once, without an error, when two files are written one after the other', async () => {
  using lab = createLab();
  const live = lab.live();
  live.watch();

  lab.write('a', '2');
  await lab.mismatched();
  lab.write('b', '2');
  await until(() => live.value === '2', 'the new pair');
  live.stop();

  expect({ reloaded: lab.reloaded, errors: lab.errors }).toEqual({ reloaded: ['2'], errors: [] });
});

test('reports a mismatched pair after a delay, and keeps the last valid value', async () => {
  using lab = createLab();
  const live = lab.live();
  live.watch();

  lab.write('a', '2');
  await lab.mismatched();
  lab.clock.advance(RETRY_MS);
  expect(live.failures).toBe(1);
  live.stop();

  expect(live.value).toBe('1');
  expect(lab.errors).toEqual(['2 is not 1']);
  expect(live.reloads).toBe(0);
});

test('reports the return of the last valid content, and does not count it as a reload', async () => {
  using lab = createLab();
  const live = lab.live();
  live.watch();
  expect(live.isCurrent).toBe(true);

  lab.write('a', '2');
  await lab.mismatched();
  lab.clock.advance(RETRY_MS);
  expect(live.failures).toBe(1);
  expect(live.isCurrent).toBe(false);
  lab.write('a', '1');
  await until(() => live.isCurrent, 'the valid content');
  live.stop();

  expect(lab.recovered()).toBe(1);
  expect(live.reloads).toBe(0);
});

test('is not current while a file is missing', async () => {
  using lab = createLab();
  const live = lab.live();
  live.watch();

  rmSync(join(lab.folder, 'b'));
  await until(() => live.failures === 1, 'the error');
  expect(live.isCurrent).toBe(false);
  lab.write('b', '1');
  await until(() => live.isCurrent, 'the valid content');
  live.stop();

  expect(lab.recovered()).toBe(1);
});

test('reloads when the link of a Kubernetes volume is replaced', async () => {
  using lab = createLab();
  const version = (name: string, content: string): void => {
    mkdirSync(join(lab.folder, name));
    for (const file of ['a', 'b']) writeFileSync(join(lab.folder, name, file), content);
    symlinkSync(name, join(lab.folder, '..data_tmp'));
    renameSync(join(lab.folder, '..data_tmp'), join(lab.folder, '..data'));
  };
  version('..first', '1');
  for (const file of ['x', 'y']) {
    symlinkSync(join('..data', file === 'x' ? 'a' : 'b'), join(lab.folder, file));
  }
  const live = lab.live(join(lab.folder, 'x'), join(lab.folder, 'y'));
  live.watch();

  version('..second', '2');
  await until(() => live.value === '2', 'the new version');
  live.stop();

  expect({ reloaded: lab.reloaded, errors: lab.errors }).toEqual({ reloaded: ['2'], errors: [] });
});
