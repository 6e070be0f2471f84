/**
 * Writes OCI images as one archive, without a container engine. The same input results in the same bytes, and therefore
 * the same digest. https://github.com/opencontainers/image-spec/blob/main/image-layout.md
 */
import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { tar, type TarEntry } from './tar.ts';

/** Spec of an image. */
export interface OciImageSpec {
  /** Name that pods use, with a tag: `snicket.test/tools:1`. */
  readonly name: string;
  /** Go's name of the architecture: amd64, arm64. */
  readonly architecture: string;
  /** Layers, the lowest first. A node fetches only the layers that it does not have. */
  readonly layers: readonly LayerSpec[];
  /** Configuration of containers, with the fields of the specification. A pod can override them. */
  readonly config: ImageConfig;
}

/** Spec of a layer. */
export interface LayerSpec {
  /** Entries of the layer. Parent folders are added. */
  readonly entries: readonly TarEntry[];
  /** gzip uses level 6: it takes a second and a half for 100 MB, and halves an executable. */
  readonly compression: 'none' | 'gzip';
}

/** The used part of https://github.com/opencontainers/image-spec/blob/main/config.md#properties. */
export interface ImageConfig {
  readonly User?: string;
  readonly Env?: readonly string[];
  readonly Entrypoint?: readonly string[] | undefined;
  readonly Cmd?: readonly string[] | undefined;
  readonly Labels?: Readonly<Record<string, string>>;
}

/** A written image. */
export interface OciImage {
  /** Image layout as a tar. */
  readonly archive: Buffer;
  /** Digest by which registries and pods identify this image: `sha256:...`. */
  readonly digest: string;
  /** Stored layers, in the order of the spec. */
  readonly layers: readonly Descriptor[];
}

/** Reference to a blob. */
export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';

/** Builds an image. */
export function ociImage({ name, architecture, layers, config }: OciImageSpec): OciImage {
  const [, tag] = /:([^:/@]+)$/.exec(name) ?? [];
  if (tag === undefined) throw new Error(`image name '${name}' has no tag; write ${name}:1`);
  const platform = { architecture, os: 'linux' };
  const written = layers.map(writeLayer);
  const configuration = json({
    ...platform,
    config,
    rootfs: { type: 'layers', diff_ids: written.map(({ contentDigest }) => contentDigest) },
  });
  const manifest = json({
    schemaVersion: 2,
    mediaType: MANIFEST,
    config: describe('application/vnd.oci.image.config.v1+json', configuration),
    layers: written.map(({ descriptor }) => descriptor),
  });
  const index = json({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [
      {
        ...describe(MANIFEST, manifest),
        platform,
        // containerd reads the first annotation. The second is from the specification, and holds only a tag.
        annotations: {
          'io.containerd.image.name': name,
          'org.opencontainers.image.ref.name': tag,
        },
      },
    ],
  });
  const blobs = [...written.map(({ blob }) => blob), configuration, manifest];
  return {
    archive: tar([
      file('oci-layout', json({ imageLayoutVersion: '1.0.0' })),
      file('index.json', index),
      { kind: 'folder', path: 'blobs', mode: 0o755 },
      { kind: 'folder', path: 'blobs/sha256', mode: 0o755 },
      ...blobs.map((blob) => file(`blobs/${digest(blob).replace(':', '/')}`, blob)),
    ]),
    digest: digest(manifest),
    layers: written.map(({ descriptor }) => descriptor),
  };
}

interface WrittenLayer {
  readonly blob: Uint8Array;
  readonly descriptor: Descriptor;
  /** Digest of the uncompressed tar. */
  readonly contentDigest: string;
}

function writeLayer({ entries, compression }: LayerSpec): WrittenLayer {
  const content = tar([...foldersAbove(entries), ...entries]);
  const mediaType = 'application/vnd.oci.image.layer.v1.tar';
  if (compression === 'none') {
    const descriptor = describe(mediaType, content);
    return { blob: content, descriptor, contentDigest: descriptor.digest };
  }
  // libdeflate in place of node:zlib: it writes neither a time nor the operating system into the header, and is faster.
  const blob = Bun.gzipSync(content, { level: 6, library: 'libdeflate' });
  return {
    blob,
    descriptor: describe(`${mediaType}+gzip`, blob),
    contentDigest: digest(content),
  };
}

/** Returns the parent folders that are missing in the entries, parents first. */
function foldersAbove(entries: readonly TarEntry[]): TarEntry[] {
  const folders = new Set<string>();
  for (const { path } of entries) {
    for (let folder = dirname(path); folder !== '/' && folder !== '.'; folder = dirname(folder))
      folders.add(folder);
  }
  const named = new Set(entries.map(({ path }) => path));
  return [...folders]
    .filter((path) => !named.has(path))
    .toSorted()
    .map((path) => ({ kind: 'folder', path, mode: 0o755 }));
}

function file(path: string, content: Uint8Array): TarEntry {
  return { kind: 'file', path, content, mode: 0o644 };
}

function describe(mediaType: string, blob: Uint8Array): Descriptor {
  return { mediaType, digest: digest(blob), size: blob.length };
}

function digest(blob: Uint8Array): string {
  return `sha256:${createHash('sha256').update(blob).digest('hex')}`;
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
