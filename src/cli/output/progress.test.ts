import { expect, test } from 'bun:test';
import { TestIo } from '../testing/test-io.ts';
import { withProgress } from './progress.ts';

test('is silent about what is quick, and hands on what it gives', async () => {
  const io = new TestIo();

  expect(await withProgress(io, 'reading', Promise.resolve(7))).toBe(7);

  expect(io.stderr.text).toBe('');
});

test('says what takes long, once', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const io = new TestIo({ patienceMs: 1 });
  io.stderr.on('text', resolve);

  await withProgress(io, 'reading', promise);

  expect(io.stderr.text).toBe('reading...\n');
});

test('hands on a failure, and says nothing more', async () => {
  const io = new TestIo();
  const failure = Promise.reject(new RangeError('no'));

  await expect(withProgress(io, 'reading', failure)).rejects.toThrow('no');

  expect(io.stderr.text).toBe('');
});
