import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ociImage, type OciImageSpec } from './oci.ts';
import { readLayout } from './testing/layout.ts';

const content = Buffer.alloc(10_000, 'Snicket ');
const SPEC: OciImageSpec = {
  name: 'registry.test:5000/hello:1.2',
  architecture: 'amd64',
  layers: [
    {
      entries: [{ kind: 'file', path: '/usr/share/doc/hello', content, mode: 0o644 }],
      compression: 'gzip',
    },
    {
      entries: [
        { kind: 'folder', path: '/tmp', mode: 0o1777 },
        { kind: 'file', path: '/tmp/hello', content, mode: 0o755 },
      ],
      compression: 'none',
    },
  ],
  config: { Entrypoint: ['/tmp/hello'], User: '65532:65532', Labels: { a: 'b' } },
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'snicket-oci-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('an archive', () => {
  test('is an image layout whose descriptors match their blobs', () => {
    const { archive, digest, layers } = ociImage(SPEC);

    const layout = readLayout(archive, folder); // compares every digest and size

    expect(layout.index.manifests).toEqual([
      {
        mediaType: 'application/vnd.oci.image.manifest.v1+json',
        digest,
        size: expect.any(Number),
        platform: { architecture: 'amd64', os: 'linux' },
        annotations: {
          'io.containerd.image.name': 'registry.test:5000/hello:1.2',
          'org.opencontainers.image.ref.name': '1.2',
        },
      },
    ]);
    expect(layout.manifest.layers).toEqual([...layers]);
    expect(layers.map(({ mediaType }) => mediaType)).toEqual([
      'application/vnd.oci.image.layer.v1.tar+gzip',
      'application/vnd.oci.image.layer.v1.tar',
    ]);
    expect(layout.config).toMatchObject({
      architecture: 'amd64',
      os: 'linux',
      config: { Entrypoint: ['/tmp/hello'], User: '65532:65532', Labels: { a: 'b' } },
      rootfs: { type: 'layers' },
    });
  });

  test('has the files of each layer, with the folders above them', () => {
    const { archive } = ociImage(SPEC);

    const { layers } = readLayout(archive, folder);

    expect(readFileSync(join(layers[0]!, 'usr/share/doc/hello'))).toEqual(content);
    expect(readFileSync(join(layers[1]!, 'tmp/hello'))).toEqual(content);
    expect(existsSync(join(layers[1]!, 'usr'))).toBe(false);
  });

  test('has no timestamp in its configuration or in the gzip header', () => {
    const { archive, layers } = ociImage(SPEC);

    const layout = readLayout(archive, folder);

    const blob = layers[0]!.digest.replace(':', '/');
    const header = readFileSync(join(folder, 'layout/blobs', blob)).subarray(0, 10);
    expect(Object.keys(layout.config)).toEqual(['architecture', 'os', 'config', 'rootfs']);
    expect(header.toString('hex')).toBe('1f8b08' + '00' + '00000000' + '00' + 'ff'); // RFC 1952, 2.3
  });

  test('has the same bytes when it is built again', () => {
    const [first, second] = [ociImage(SPEC), ociImage(SPEC)];

    expect(second.digest).toBe(first.digest);
    expect(second.archive.equals(first.archive)).toBe(true);
  });

  test('has the same digest under another name', () => {
    const renamed = ociImage({ ...SPEC, name: 'elsewhere.test/hello:2' });

    expect(renamed.digest).toBe(ociImage(SPEC).digest);
  });

  test('has another digest when a file changes, but the same digests for other layers', () => {
    const [base, top] = SPEC.layers;
    const changed = Buffer.from(content).fill('x', 0, 1);
    const entry = { kind: 'file', path: '/tmp/hello', content: changed, mode: 0o755 } as const;

    const [before, after] = [
      ociImage(SPEC),
      ociImage({ ...SPEC, layers: [base!, { ...top!, entries: [entry] }] }),
    ];

    expect(after.digest).not.toBe(before.digest);
    expect(after.layers[0]).toEqual(before.layers[0]);
  });
});

test.each(['hello', 'registry.test:5000/hello', 'hello:'])(
  'a name without a tag is refused: %s',
  (name) => {
    expect(() => ociImage({ ...SPEC, name })).toThrow(`image name '${name}' has no tag`);
  },
);
