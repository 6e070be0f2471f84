import { afterEach, beforeEach, expect, test } from 'bun:test';
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readLayout } from '../../image/testing/layout.ts';
import { architecture } from '../parts/cache.ts';
import { ociArchive, type ImageSpec } from './oci.ts';

let folder: string;
let spec: ImageSpec;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'snicket-oci-'));
  writeFileSync(join(folder, 'hello'), '#!/bin/sh\necho hello\n');
  writeFileSync(join(folder, 'empty'), '');
  spec = {
    name: 'snicket.test/hello:1',
    files: {
      '/bin/hello': join(folder, 'hello'),
      '/usr/share/doc/empty': join(folder, 'empty'),
    },
    links: { '/bin/hi': 'hello', '/usr/bin/hello': '/bin/hello' },
    entrypoint: ['/bin/hello', '--loud'],
  };
});

afterEach(() => rmSync(folder, { recursive: true }));

test('an archive has one uncompressed layer and the entrypoint', () => {
  const { manifest, config } = readLayout(ociArchive(spec), folder);

  expect(manifest.layers.map(({ mediaType }) => mediaType)).toEqual([
    'application/vnd.oci.image.layer.v1.tar',
  ]);
  expect(config).toMatchObject({
    architecture,
    os: 'linux',
    config: { Entrypoint: ['/bin/hello', '--loud'], Env: ['PATH=/bin'] },
  });
});

test('the layer has the executable files, the links, /tmp and /etc', () => {
  const root = readLayout(ociArchive(spec), folder).layers[0]!;

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

test('the bytes of an archive depend on the content of its files, not on their times', () => {
  const first = ociArchive(spec);
  writeFileSync(join(folder, 'hello'), readFileSync(join(folder, 'hello')));
  const second = ociArchive(spec);
  writeFileSync(join(folder, 'hello'), '#!/bin/sh\necho HELLO\n');
  const third = ociArchive(spec);

  expect(second.equals(first)).toBe(true);
  expect(third.equals(first)).toBe(false);
});
