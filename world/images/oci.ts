import { readFileSync } from 'node:fs';
import { ociImage } from '../../image/oci.ts';
import type { TarEntry } from '../../image/tar.ts';
import { architecture } from '../parts/cache.ts';

/** Spec of an image. */
export interface ImageSpec {
  /** Name that pods use, such as `snicket.test/tools:1`. */
  readonly name: string;
  /** Path in the image, and the file on this machine with its content. All files are executable. */
  readonly files: Readonly<Record<string, string>>;
  /** Path in the image, and the target of the link. */
  readonly links?: Readonly<Record<string, string>>;
  /** Entrypoint of a container. Default: none, the arguments are the command. */
  readonly entrypoint?: readonly string[];
  /** Default arguments of a container. Default: none. */
  readonly command?: readonly string[];
}

/**
 * Returns an OCI archive with a single uncompressed layer, because it is read only once and locally. The same files
 * give the same bytes.
 */
export function ociArchive(spec: ImageSpec): Buffer {
  const entries: TarEntry[] = [
    { kind: 'folder', path: '/etc', mode: 0o755 },
    { kind: 'folder', path: '/tmp', mode: 0o755 },
    ...Object.entries(spec.files).map(([path, source]): TarEntry => {
      return { kind: 'file', path, content: readFileSync(source), mode: 0o755 };
    }),
    ...Object.entries(spec.links ?? {}).map(([path, target]): TarEntry => {
      return { kind: 'link', path, target };
    }),
  ];
  return ociImage({
    name: spec.name,
    architecture,
    layers: [{ entries, compression: 'none' }],
    config: { Entrypoint: spec.entrypoint, Cmd: spec.command, Env: ['PATH=/bin'] },
  }).archive;
}
