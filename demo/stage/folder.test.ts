import { expect, test } from 'bun:test';
import { existsSync, statSync } from 'node:fs';
import { DemoFolder } from './folder.ts';

test('files are readable only by their owner and are removed with the folder', async () => {
  let path: string;
  {
    await using folder = new DemoFolder();
    path = folder.write('a/token', 'secret');

    expect(folder.read('a/token')).toBe('secret');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(folder.path).mode & 0o777).toBe(0o700);
  }

  expect(existsSync(path)).toBe(false);
});
