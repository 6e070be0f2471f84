import { expect, test } from 'bun:test';
import { TestIo } from '../testing/test-io.ts';
import { PROGRESS_DELAY_MS, withProgress } from './progress.ts';

test('prints nothing for quick work, and returns its result', async () => {
  const io = new TestIo();

  expect(await withProgress(io, 'reading', Promise.resolve(7))).toBe(7);

  expect(io.stderr.text).toBe('');
});

test('prints one line for slow work', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const io = new TestIo();
  const working = withProgress(io, 'reading', promise);

  io.clock.advance(PROGRESS_DELAY_MS - 1);
  expect(io.stderr.text).toBe('');
  io.clock.advance(1);
  io.clock.advance(PROGRESS_DELAY_MS);
  resolve();
  await working;

  expect(io.stderr.text).toBe('reading...\n');
});

test('rethrows an error without a line', async () => {
  const io = new TestIo();
  const failure = Promise.reject(new RangeError('no'));

  await expect(withProgress(io, 'reading', failure)).rejects.toThrow('no');

  expect(io.stderr.text).toBe('');
});
