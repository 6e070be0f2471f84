/**
 * Reads archives as other programs do: the system's tar unpacks them, which verifies header checksums, and every digest
 * and size is compared.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Descriptor } from '../oci.ts';

/** Content of an unpacked archive. */
export interface Layout {
  readonly index: { readonly manifests: readonly (Descriptor & Record<string, unknown>)[] };
  readonly manifest: { readonly config: Descriptor; readonly layers: readonly Descriptor[] };
  readonly config: {
    readonly config: Readonly<Record<string, unknown>>;
    readonly rootfs: { readonly type: string; readonly diff_ids: readonly string[] };
  };
  /** Folder of each layer. */
  readonly layers: readonly string[];
}

/**
 * Unpacks an archive and its layers into a folder.
 *
 * @throws if a digest or size does not match
 */
export function readLayout(archive: Uint8Array, folder: string): Layout {
  const layout = unpack(archive, join(folder, 'layout'));
  const blob = ({ digest, size }: Descriptor): Buffer => {
    const content = readFileSync(join(layout, 'blobs', digest.replace(':', '/')));
    if (content.length !== size) throw new Error(`${digest} has ${content.length} bytes: ${size}?`);
    if (sha256(content) !== digest) throw new Error(`${digest} is ${sha256(content)}`);
    return content;
  };
  const version = JSON.parse(readFileSync(join(layout, 'oci-layout'), 'utf8')) as object;
  if (!Bun.deepEquals(version, { imageLayoutVersion: '1.0.0' }))
    throw new Error(`oci-layout: ${JSON.stringify(version)}`);
  const index = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8')) as Layout['index'];
  const [described, ...others] = index.manifests;
  if (described === undefined || others.length > 0)
    throw new Error(`${index.manifests.length} manifests`);
  const manifest = JSON.parse(blob(described).toString()) as Layout['manifest'];
  const config = JSON.parse(blob(manifest.config).toString()) as Layout['config'];
  const layers = manifest.layers.map((descriptor, place) => {
    const stored = blob(descriptor);
    const content = descriptor.mediaType.endsWith('+gzip') ? gunzipSync(stored) : stored;
    const expected = config.rootfs.diff_ids[place];
    if (sha256(content) !== expected) throw new Error(`layer ${place} is not ${expected}`);
    return unpack(content, join(folder, `layer-${place}`));
  });
  return { index, manifest, config, layers };
}

/** Unpacks a tar into a new folder, and returns its path. */
export function unpack(archive: Uint8Array, into: string): string {
  mkdirSync(into, { recursive: true });
  const { exitCode, stderr } = Bun.spawnSync(
    ['tar', '--extract', '--preserve-permissions', '--file=-', '--directory', into],
    { stdin: archive },
  );
  if (exitCode !== 0 || stderr.length > 0) throw new Error(`tar: ${stderr.toString()}`);
  return into;
}

function sha256(content: Uint8Array): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}
