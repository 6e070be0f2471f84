/**
 * What a kubeconfig holds itself, as base64, or leaves to a file beside it.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { AccessError } from './cluster-access.ts';
import type { Origin } from './kubeconfig-document.ts';

/** One value, held in one of two ways; if in both, the data is meant. */
export interface Content {
  /** As messages name it: `client-key of user "blue" in the kubeconfig`. */
  readonly what: string;
  readonly base64: string | undefined;
  readonly path: string | undefined;
  readonly origin: Origin;
}

const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;

/** The text; undefined if there is none in either way. @throws AccessError */
export function contentOf({ what, base64, path, origin }: Content): string | undefined {
  if (base64 !== undefined && base64 !== '') {
    if (!BASE64.test(base64)) {
      throw new AccessError('AccessInvalid', `${what}-data is not base64`);
    }
    return Buffer.from(base64, 'base64').toString('utf8');
  }
  if (path === undefined || path === '') return undefined;
  const resolved = resolvedPath(path, what, origin);
  try {
    return readFileSync(resolved, 'utf8');
  } catch (error) {
    throw new AccessError('AccessInvalid', `${what} is ${resolved}, which cannot be read`, error);
  }
}

/**
 * Where a file is that a kubeconfig names. A text out of a Secret may name none: it would be a file of whoever reads the
 * Secret, and its content would be sent to whoever wrote it.
 *
 * @throws AccessError
 */
export function resolvedPath(path: string, what: string, origin: Origin): string {
  if (origin.folder !== undefined) return resolve(origin.folder, path);
  throw new AccessError(
    'AccessRefused',
    `${what} is the file ${path}, and this kubeconfig is not a file itself; put the content into it, with \`kubectl config view --flatten --minify --raw\``,
  );
}
