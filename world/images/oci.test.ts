import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { architecture } from '../parts/cache.ts';
import { ociArchive, type ImageSpec } from './oci.ts';

// What we write, the system's own tar has to read.

let folder: string;
let spec: ImageSpec;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'snicket-oci-'));
  writeFileSync(join(folder, 'hello'), '#!/bin/sh\necho hello\n');
  writeFileSync(join(folder, 'empty'), '');
  writeFileSync(join(folder, 'block'), Buffer.alloc(1024, 'x'));
  spec = {
    name: 'snicket.test/hello:1',
    files: {
      '/bin/hello': join(folder, 'hello'),
      '/usr/share/doc/empty': join(folder, 'empty'),
      '/block': join(folder, 'block'),
    },
    links: { '/bin/hi': 'hello', '/usr/bin/hello': '/bin/hello' },
    entrypoint: ['/bin/hello', '--loud'],
  };
});

afterEach(() => rmSync(folder, { recursive: true }));

describe('an archive', () => {
  test('is an image layout whose descriptors match their blobs', () => {
    const layout = unpack(ociArchive(spec), 'layout');

    const index = readJson(join(layout, 'index.json'));
    const manifest = readJson(blob(layout, index.manifests[0]));
    const config = readJson(blob(layout, manifest.config));
    const layer = blob(layout, manifest.layers[0]);

    expect(readJson(join(layout, 'oci-layout'))).toEqual({ imageLayoutVersion: '1.0.0' });
    expect(index.manifests).toHaveLength(1);
    expect(index.manifests[0].annotations).toEqual({
      'io.containerd.image.name': 'snicket.test/hello:1',
    });
    expect(manifest.layers).toHaveLength(1);
    expect(manifest.layers[0].mediaType).toBe('application/vnd.oci.image.layer.v1.tar');
    expect(config).toMatchObject({
      architecture,
      os: 'linux',
      config: { Entrypoint: ['/bin/hello', '--loud'] },
      rootfs: { type: 'layers', diff_ids: [digestOf(layer)] },
    });
  });

  test('has a layer with the files, executable, the links, and /tmp and /etc', () => {
    const layout = unpack(ociArchive(spec), 'layout');
    const manifest = readJson(blob(layout, readJson(join(layout, 'index.json')).manifests[0]));

    const root = unpack(readFileSync(blob(layout, manifest.layers[0])), 'root');

    for (const [path, source] of Object.entries(spec.files)) {
      expect(readFileSync(join(root, path))).toEqual(readFileSync(source));
      expect(lstatSync(join(root, path)).mode & 0o777).toBe(0o755);
    }
    expect(readlinkSync(join(root, 'bin/hi'))).toBe('hello');
    expect(readlinkSync(join(root, 'usr/bin/hello'))).toBe('/bin/hello');
    expect(statSync(join(root, 'tmp')).isDirectory()).toBe(true);
    expect(statSync(join(root, 'etc')).isDirectory()).toBe(true);
    expect(existsSync(join(root, 'tmp/x'))).toBe(false);
  });

  test('has the same bytes when it is made again, also from files that are newer', () => {
    const first = ociArchive(spec);
    writeFileSync(join(folder, 'hello'), readFileSync(join(folder, 'hello')));

    const second = ociArchive(spec);

    expect(second.equals(first)).toBe(true);
  });

  test('has other bytes when a file has', () => {
    const first = ociArchive(spec);
    writeFileSync(join(folder, 'hello'), '#!/bin/sh\necho HELLO\n');

    const second = ociArchive(spec);

    expect(second.equals(first)).toBe(false);
  });
});

describe('a path', () => {
  test('may have 100 bytes', () => {
    const path = `/bin/${'x'.repeat(96)}`;
    const target = 'y'.repeat(100);

    const archive = ociArchive({ ...spec, files: {}, links: { [path]: target } });

    const layout = unpack(archive, 'layout');
    const manifest = readJson(blob(layout, readJson(join(layout, 'index.json')).manifests[0]));
    const root = unpack(readFileSync(blob(layout, manifest.layers[0])), 'root');
    expect(readlinkSync(join(root, path))).toBe(target);
  });

  test('of more than 100 bytes is refused by name, also when it has fewer letters', () => {
    const path = `/bin/${'ü'.repeat(49)}`;

    expect(() => ociArchive({ ...spec, files: { [path]: join(folder, 'hello') } })).toThrow(
      `'${path}' is too long`,
    );
  });

  test('of more than 100 bytes is refused by name as the target of a link', () => {
    const target = `/${'y'.repeat(100)}`;

    expect(() => ociArchive({ ...spec, links: { '/bin/hi': target } })).toThrow(
      `'${target}' is too long`,
    );
  });
});

/** Unpacks with the system's tar, which checks the sums of the headers, and returns the folder. */
function unpack(archive: Buffer, name: string): string {
  const into = join(folder, name);
  mkdirSync(into);
  const tar = Bun.spawnSync(['tar', '--extract', '--file=-', '--directory', into], {
    stdin: archive,
  });
  expect(tar.stderr.toString()).toBe('');
  expect(tar.exitCode).toBe(0);
  return into;
}

/** Path of the blob of a descriptor, once its size and digest are found to be true. */
function blob(layout: string, descriptor: { digest: string; size: number }): string {
  const path = join(layout, 'blobs', descriptor.digest.replace(':', '/'));
  expect(statSync(path).size).toBe(descriptor.size);
  expect(digestOf(path)).toBe(descriptor.digest);
  return path;
}

function digestOf(path: string): string {
  return `sha256:${createHash('sha256').update(readFileSync(path)).digest('hex')}`;
}

function readJson(path: string) {
  return JSON.parse(readFileSync(path, 'utf8'));
}
