/**
 * Reads kubeconfig values that are either inline base64 or the path of a file.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { AccessError } from './cluster-access.ts';
import type { Origin } from './kubeconfig-document.ts';

/** A value that is inline, in a file, or both. If both are set, the inline data wins. */
interface Content {
  /** The name in messages: `client-key of user "blue" in the kubeconfig`. */
  readonly name: string;
  readonly base64: string | undefined;
  readonly path: string | undefined;
  readonly origin: Origin;
}

const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;

/** Returns the text, or undefined if neither form is set. @throws AccessError */
export function contentOf({ name, base64, path, origin }: Content): string | undefined {
  if (base64 !== undefined && base64 !== '') {
    if (!BASE64.test(base64)) {
      throw new AccessError('AccessInvalid', `${name}-data is not base64`);
    }
    return Buffer.from(base64, 'base64').toString('utf8');
  }
  if (path === undefined || path === '') return undefined;
  const resolved = resolvedPath(path, name, origin);
  try {
    return readFileSync(resolved, 'utf8');
  } catch (error) {
    throw new AccessError('AccessInvalid', `${name} cannot be read: ${resolved}`, error);
  }
}

/**
 * Resolves the path of a file that a kubeconfig names. A kubeconfig from a Secret must not name files: they would be
 * files of the process that reads the Secret, and their content would be sent to a server chosen by the author of the
 * Secret.
 *
 * @throws AccessError
 */
export function resolvedPath(path: string, name: string, origin: Origin): string {
  if (origin.folder !== undefined) return resolve(origin.folder, path);
  throw new AccessError(
    'AccessRefused',
    `${name} references the file ${path}, but this kubeconfig is not a file itself; embed the content with \`kubectl config view --flatten --minify --raw\``,
  );
}
