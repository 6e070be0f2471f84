/**
 * Content of Snicket's image: the executable and the libraries it needs, without a shell or a package manager.
 *
 * It has no certificates. Snicket trusts a tenant's CA, or the CA in a kubeconfig; Bun's executable contains the roots
 * of public CAs.
 */
import { readFileSync } from 'node:fs';
import manifest from '../package.json' with { type: 'json' };
import type { OciImageSpec, LayerSpec } from './oci.ts';
import { sharedLibraries } from './shared-libraries.ts';
import type { TarEntry } from './tar.ts';

/** Default name of the image; deploy/ uses the same. */
export const IMAGE_NAME = `snicket.dev/snicket:${manifest.version}`;

/** User and group of containers: not root, and unused on machines. */
export const USER_ID = 65532;

/** Returns the image of this executable. It depends on files alone, not on the time or the network. */
export function snicketImage(executable: string, name: string): OciImageSpec {
  return {
    name,
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    // An upgrade of Snicket changes only the second layer.
    layers: [
      baseLayer(sharedLibraries(executable)),
      layer([{ kind: 'file', path: '/snicket', content: readFileSync(executable), mode: 0o755 }]),
    ],
    config: {
      User: `${USER_ID}:${USER_ID}`,
      // Lets `kubectl exec ... -- snicket version` find it.
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

/** Returns the layer with everything but the executable. Snicket writes to none of it, so a read-only root works. */
function baseLayer(libraries: readonly string[]): LayerSpec {
  return layer([
    text('/etc/group', `root:x:0:\nsnicket:x:${USER_ID}:\n`),
    // Without this file, glibc looks for modules that do not exist here.
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
