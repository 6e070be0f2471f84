import { readFileSync } from 'node:fs';
import { ociImage } from '../../image/oci.ts';
import type { TarEntry } from '../../image/tar.ts';
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

/** An OCI archive of a single layer, uncompressed: it is read once, on this machine. The same files give the same bytes. */
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
