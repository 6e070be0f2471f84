import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { architecture } from '../parts/cache.ts';

/** What goes into an image. */
export interface ImageSpec {
  /** As pods name it: `snicket.test/tools:1`. */
  readonly name: string;
  /** Path in the image, and the file on this machine whose content it gets; all are executable. */
  readonly files: Readonly<Record<string, string>>;
  /** Path in the image, and what the link points to. */
  readonly links?: Readonly<Record<string, string>>;
  /** What a container runs, whatever its arguments. Default: what those say. */
  readonly entrypoint?: readonly string[];
  /** Arguments of a container that is given none. Default: none. */
  readonly command?: readonly string[];
}

/**
 * An OCI image layout as one tar, of a single uncompressed layer. The same files give the same bytes.
 * https://github.com/opencontainers/image-spec/blob/main/image-layout.md
 */
export function ociArchive(spec: ImageSpec): Buffer {
  const layer = tar([
    ...folderEntries([
      ...Object.keys(spec.files),
      ...Object.keys(spec.links ?? {}),
      '/tmp/x',
      '/etc/x',
    ]),
    ...Object.entries(spec.files).map(([path, source]) =>
      tarEntry(path, readFileSync(source), 0o755),
    ),
    ...Object.entries(spec.links ?? {}).map(([path, target]) =>
      tarEntry(path, Buffer.alloc(0), 0o777, target),
    ),
  ]);
  const config = json({
    architecture,
    os: 'linux',
    config: { Entrypoint: spec.entrypoint, Cmd: spec.command, Env: ['PATH=/bin'] },
    rootfs: { type: 'layers', diff_ids: [digest(layer)] },
  });
  const manifest = json({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: descriptor('application/vnd.oci.image.config.v1+json', config),
    layers: [descriptor('application/vnd.oci.image.layer.v1.tar', layer)],
  });
  const index = json({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [
      {
        ...descriptor('application/vnd.oci.image.manifest.v1+json', manifest),
        platform: { architecture, os: 'linux' },
        annotations: { 'io.containerd.image.name': spec.name },
      },
    ],
  });
  return tar([
    tarEntry('oci-layout', json({ imageLayoutVersion: '1.0.0' })),
    tarEntry('index.json', index),
    ...[config, layer, manifest].map((blob) =>
      tarEntry(`blobs/sha256/${digest(blob).slice(7)}`, blob),
    ),
  ]);
}

function descriptor(
  mediaType: string,
  blob: Buffer,
): { mediaType: string; digest: string; size: number } {
  return { mediaType, digest: digest(blob), size: blob.length };
}

function digest(blob: Buffer): string {
  return `sha256:${createHash('sha256').update(blob).digest('hex')}`;
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function folderEntries(paths: readonly string[]): Buffer[] {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let folder = dirname(path); folder !== '/' && folder !== '.'; folder = dirname(folder))
      folders.add(folder);
  }
  return [...folders].toSorted().map((folder) => tarEntry(`${folder}/`, Buffer.alloc(0), 0o755));
}

function tar(entries: readonly Buffer[]): Buffer {
  return Buffer.concat([...entries, Buffer.alloc(1024)]);
}

/** One entry in ustar form (POSIX.1-1988): a folder if the path ends in a slash, a link if it has a target. */
function tarEntry(path: string, content: Buffer, mode = 0o644, target = ''): Buffer {
  const name = path.replace(/^\//, '');
  const tooLong = [name, target].find((text) => Buffer.byteLength(text) > 100);
  if (tooLong !== undefined)
    throw new Error(
      `'${tooLong === name ? path : target}' is too long for a tar entry of 100 bytes`,
    );
  const header = Buffer.alloc(512);
  const octal = (value: number, length: number) =>
    `${value.toString(8).padStart(length - 1, '0')}\0`;
  header.write(name, 0);
  header.write(octal(mode, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(content.length, 12), 124);
  header.write(octal(0, 12), 136);
  header.write(' '.repeat(8), 148); // the sum is taken with blanks in its own place
  header.write(name.endsWith('/') ? '5' : target ? '2' : '0', 156);
  header.write(target, 157);
  header.write('ustar\0' + '00', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([header, content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
}
