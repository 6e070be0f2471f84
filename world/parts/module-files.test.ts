import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { partFolder } from './cache.ts';
import { edgeParts, type GoPart } from './catalog.ts';
import { copyModuleFiles, filesFolder } from './module-files.ts';

describe('the files of a part', () => {
  let folder: string;
  let target: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'snicket-module-files-'));
    target = join(folder, 'target');
    for (const [module, path] of [
      ['example.com/one', 'crds/a.yaml'],
      ['example.com/one', 'crds/b.yaml'],
      ['example.com/one', 'crds/notes.md'],
      ['example.com/one', 'etc/deep/er/c.lua'],
      ['example.com/two', 'run.sh'],
    ] as const) {
      mkdirSync(dirname(join(folder, module, path)), { recursive: true });
      writeFileSync(join(folder, module, path), path);
      chmodSync(join(folder, module, path), 0o444); // as Go leaves them
    }
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  test('are copied from each module, below the name of their entry', async () => {
    await copy({
      one: { module: 'example.com/one', paths: ['crds/*.yaml', 'etc/**/*'] },
      two: { module: 'example.com/two', paths: ['run.sh'] },
    });

    expect(copied()).toEqual([
      'one/crds/a.yaml',
      'one/crds/b.yaml',
      'one/etc/deep/er/c.lua',
      'two/run.sh',
    ]);
  });

  test('can be changed, and scripts can be run, unlike in the cache of Go', async () => {
    await copy({
      one: { module: 'example.com/one', paths: ['crds/a.yaml'] },
      two: { module: 'example.com/two', paths: ['run.sh'] },
    });

    expect(statSync(join(target, 'one/crds/a.yaml')).mode & 0o777).toBe(0o644);
    expect(statSync(join(target, 'two/run.sh')).mode & 0o777).toBe(0o755);
  });

  test('must all exist', async () => {
    const copying = copy({ one: { module: 'example.com/one', paths: ['crds/*.json'] } });

    await expect(copying).rejects.toThrow("module example.com/one has no file 'crds/*.json'");
  });

  async function copy(files: NonNullable<GoPart['files']>): Promise<void> {
    const part: GoPart = { kind: 'go', name: 'none', version: 'v0', programs: {}, files };
    await copyModuleFiles(part, target, async (module) => join(folder, module));
  }

  function copied(): string[] {
    return readdirSync(target, { recursive: true, encoding: 'utf8' })
      .filter((path) => statSync(join(target, path)).isFile())
      .toSorted();
  }
});

test('the folder of an entry is in the folder of its part', () => {
  expect(filesFolder(edgeParts.contour, 'contour')).toBe(
    join(partFolder(edgeParts.contour), 'files', 'contour'),
  );
});
