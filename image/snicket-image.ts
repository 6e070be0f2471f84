/**
 * What is in the image of Snicket: the executable, the libraries it needs, and nothing else; no shell, no package manager.
 *
 * No certificates either: Snicket trusts a tenant's CA, or the one that a kubeconfig names; the roots of public CAs are in
 * the executable, where Bun has them.
 */
import { readFileSync } from 'node:fs';
import manifest from '../package.json' with { type: 'json' };
import type { OciImageSpec, LayerSpec } from './oci.ts';
import { sharedLibraries } from './shared-libraries.ts';
import type { TarEntry } from './tar.ts';

/** The image's name unless another is asked for; deploy/ has the same. */
export const IMAGE_NAME = `snicket.dev/snicket:${manifest.version}`;

/** User and group that containers run as: no root, and no one that a machine has. */
export const USER_ID = 65532;

/** The image of this executable. What is in it is read, and never asked of a clock or of the network. */
export function snicketImage(executable: string, name: string): OciImageSpec {
  return {
    name,
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    // An upgrade of Snicket ships the second one only.
    layers: [
      baseLayer(sharedLibraries(executable)),
      layer([{ kind: 'file', path: '/snicket', content: readFileSync(executable), mode: 0o755 }]),
    ],
    config: {
      User: `${USER_ID}:${USER_ID}`,
      // So that `kubectl exec ... -- snicket version` finds it.
      Env: ['PATH=/'],
      Entrypoint: ['/snicket'],
      Labels: {
        'org.opencontainers.image.title': 'snicket',
        'org.opencontainers.image.description': manifest.description,
        'org.opencontainers.image.version': manifest.version,
        'org.opencontainers.image.licenses': manifest.license,
      },
    },
  };
}

/** Everything but the executable. Nothing here is ever written to: a read-only root will do, and no /tmp is needed. */
function baseLayer(libraries: readonly string[]): LayerSpec {
  return layer([
    text('/etc/group', `root:x:0:\nsnicket:x:${USER_ID}:\n`),
    // glibc would otherwise ask for modules that are not there.
    text('/etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n'),
    text(
      '/etc/passwd',
      `root:x:0:0:root:/:/nologin\nsnicket:x:${USER_ID}:${USER_ID}:snicket:/:/nologin\n`,
    ),
    ...libraries.map((path): TarEntry => {
      return { kind: 'file', path, content: readFileSync(path), mode: 0o755 };
    }),
    { kind: 'folder', path: '/tmp', mode: 0o1777 },
  ]);
}

function layer(entries: readonly TarEntry[]): LayerSpec {
  return { entries, compression: 'gzip' };
}

function text(path: string, content: string): TarEntry {
  return { kind: 'file', path, content: Buffer.from(content), mode: 0o644 };
}
