import { afterEach, beforeEach, test } from 'bun:test';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../operator/testing/until.ts';
import { DirectoryWatch } from './directory-watch.ts';

let folder: string;

beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'snicket-watch-'))));
afterEach(() => rmSync(folder, { recursive: true }));

test('watches a directory beside those that cannot be looked at', async () => {
  let events = 0;
  const watch = new DirectoryWatch(() => events++);
  symlinkSync('loop', join(folder, 'loop'));

  watch.watch([
    join(folder, 'loop'),
    join(folder, 'none'),
    join(folder, 'x'.repeat(5_000)),
    folder,
  ]);
  writeFileSync(join(folder, 'a'), '');

  await until('an event', () => events > 0);
  watch.stop();
});
