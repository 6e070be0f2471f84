import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheFolder, moduleFolder, partFolder, partFolderName } from './cache.ts';
import { baseParts, edgeParts, type GoPart } from './catalog.ts';

describe('the folder of a part', () => {
  const etcd: GoPart = baseParts.etcd;

  test('has name and version, and does not change', () => {
    expect(partFolderName(etcd)).toMatch(/^etcd-v[\d.]+-(amd64|arm64)-[0-9a-f]{8}$/);
    expect(partFolderName(etcd)).toBe(partFolderName({ ...etcd }));
  });

  test.each<[string, Partial<GoPart>]>([
    ['version', { version: 'v0.0.1' }],
    ['program', { programs: { ...etcd.programs, etcdctl: 'go.etcd.io/etcd/etcdctl/v3' } }],
    ['name of a program', { programs: { server: 'go.etcd.io/etcd/server/v3' } }],
    ['linker flag', { linkerFlags: '-X main.version=1' }],
    ['file', { files: { etcd: { module: 'go.etcd.io/etcd/server/v3', paths: ['LICENSE'] } } }],
  ])('changes with its %s', (_, change) => {
    expect(partFolderName({ ...etcd, ...change })).not.toBe(partFolderName(etcd));
  });

  test.each([
    ['package', { packages: ['runc'] }],
    ['program', { programs: ['runc'] }],
  ])('changes with its Debian %s', (_, change) => {
    expect(partFolderName({ ...baseParts.tools, ...change })).not.toBe(
      partFolderName(baseParts.tools),
    );
  });

  test.each([
    ['version', { version: '1.40.0' }],
    ['digest', { digests: { amd64: '0000' } }],
    ['program', { programs: { envoy: 'envoy/envoy' } }],
  ])('changes with its %s of a Python package', (_, change) => {
    expect(partFolderName({ ...edgeParts.envoy, ...change })).not.toBe(
      partFolderName(edgeParts.envoy),
    );
  });

  describe('with its own module', () => {
    let folder: string;
    let module: string;

    beforeEach(() => {
      // cache.ts looks for modules beside itself, so a copy of it uses the modules in the copy's folder.
      folder = mkdtempSync(join(tmpdir(), 'snicket-cache-'));
      module = join(folder, 'go', 'etcd');
      mkdirSync(module, { recursive: true });
      copyFileSync(join(import.meta.dir, 'cache.ts'), join(folder, 'cache.ts'));
      for (const file of ['go.mod', 'go.sum'])
        copyFileSync(join(moduleFolder(etcd), file), join(module, file));
    });

    afterEach(() => rmSync(folder, { recursive: true }));

    test.each(['go.mod', 'go.sum'])('changes with %s', async (file) => {
      const copy = (await import(join(folder, 'cache.ts'))) as typeof import('./cache.ts');
      const before = copy.partFolderName(etcd);

      appendFileSync(join(module, file), '\n');
      const after = copy.partFolderName(etcd);

      expect(before).toBe(partFolderName(etcd));
      expect(after).not.toBe(before);
    });

    test('changes with code below the module, which a replace directive may use', async () => {
      const copy = (await import(join(folder, 'cache.ts'))) as typeof import('./cache.ts');
      const without = copy.partFolderName(etcd);

      mkdirSync(join(module, 'ext', 'deep'), { recursive: true });
      appendFileSync(join(module, 'ext', 'deep', 'ext.go'), 'package deep\n');
      const before = copy.partFolderName(etcd);
      appendFileSync(join(module, 'ext', 'deep', 'ext.go'), '\n');
      const after = copy.partFolderName(etcd);

      expect(new Set([without, before, after]).size).toBe(3);
    });
  });
});

describe("the user's cache", () => {
  const before = process.env['XDG_CACHE_HOME'];

  afterEach(() => {
    if (before === undefined) delete process.env['XDG_CACHE_HOME'];
    else process.env['XDG_CACHE_HOME'] = before;
  });

  test('is below XDG_CACHE_HOME', () => {
    process.env['XDG_CACHE_HOME'] = '/somewhere';

    expect(partFolder(baseParts.tools)).toBe(
      `/somewhere/snicket/parts/${partFolderName(baseParts.tools)}`,
    );
  });

  test('is below the home folder if XDG_CACHE_HOME is empty', () => {
    process.env['XDG_CACHE_HOME'] = '';

    expect(cacheFolder()).toBe(join(homedir(), '.cache', 'snicket'));
  });
});
