import { afterEach, beforeEach, expect, test } from 'bun:test';
import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../operator/testing/until.ts';
import { DirectoryWatch } from './directory-watch.ts';

let folder: string;
const watches: Counted[] = [];

beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'snicket-watch-'))));
afterEach(() => {
  for (const { watched } of watches.splice(0)) watched.stop();
  rmSync(folder, { recursive: true });
});

/** A watch that counts its callbacks. */
class Counted {
  calls = 0;
  readonly watched = new DirectoryWatch(() => this.calls++);

  constructor(directories: readonly string[]) {
    this.watched.watch(directories);
    watches.push(this);
  }

  /** Waits for the next callback and resets the count. */
  async call(): Promise<void> {
    await until('a call', () => this.calls > 0);
    this.calls = 0;
  }
}

function directory(name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
}

function writeInto(path: string): void {
  writeFileSync(join(path, 'a'), '');
}

test('watches a directory next to directories that cannot be watched', async () => {
  symlinkSync('loop', join(folder, 'loop'));
  const names = ['loop', 'none', 'x'.repeat(5_000)];
  const counted = new Counted([...names.map((name) => join(folder, name)), folder]);

  writeInto(folder);

  await until('a call', () => counted.calls > 0);
  expect(counted.calls).toBe(1);
});

test('reports a burst of changes once', async () => {
  const counted = new Counted([folder]);

  for (let at = 0; at < 20; at++) writeFileSync(join(folder, String(at)), '');

  await until('a call', () => counted.calls > 0);
  expect(counted.calls).toBe(1);
});

test('watches only the directories of the last call', async () => {
  const [removed, remaining] = [directory('removed'), directory('remaining')];
  const counted = new Counted([removed, remaining]);
  counted.watched.watch([remaining]);
  const other = new Counted([removed]);

  writeInto(removed);
  await other.call();
  expect(counted.calls).toBe(0);

  writeInto(remaining);
  await counted.call();
});

test('watches a directory again after it was replaced', async () => {
  const [replaced, other] = [directory('replaced'), directory('beside')];
  const counted = new Counted([replaced, other]);

  renameSync(replaced, join(folder, 'away'));
  directory('replaced');
  counted.watched.watch([replaced, other]);
  // Events arrive in order, so the event of the replacement itself is reported together with this one.
  writeInto(other);
  await counted.call();
  writeInto(replaced);

  await until('a call', () => counted.calls > 0);
  expect(counted.calls).toBe(1);
});

test('reports nothing after the stop, not even an earlier event', async () => {
  const counted = new Counted([folder]);
  const other = new Counted([folder]);
  const { promise: event, resolve } = Promise.withResolvers<void>();
  using _ = closing(watch(folder, () => resolve()));

  writeInto(folder);
  await event;
  counted.watched.stop();
  counted.watched.watch([folder]);
  await other.call();
  writeFileSync(join(folder, 'b'), '');
  await other.call();

  expect(counted.calls).toBe(0);
});

function closing(watcher: ReturnType<typeof watch>): Disposable {
  return { [Symbol.dispose]: () => watcher.close() };
}
