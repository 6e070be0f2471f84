import { expect, spyOn, test } from 'bun:test';
import { withProgress } from './progress.ts';

test('is silent about what is quick, and hands on what it gives', async () => {
  using said = spyOn(process.stderr, 'write').mockImplementation(() => true);

  expect(await withProgress('reading', Promise.resolve(7))).toBe(7);

  expect(said).not.toHaveBeenCalled();
});

test('says what takes long, once', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  using said = spyOn(process.stderr, 'write').mockImplementation(() => {
    resolve();
    return true;
  });

  await withProgress('reading', promise, 1);

  expect(said.mock.calls).toEqual([['reading...\n']]);
});

test('hands on a failure, and says nothing more', async () => {
  using said = spyOn(process.stderr, 'write').mockImplementation(() => true);

  await expect(withProgress('reading', Promise.reject(new RangeError('no')))).rejects.toThrow('no');

  expect(said).not.toHaveBeenCalled();
});
