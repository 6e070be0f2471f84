/**
 * Index keys for host claims. Without an index, 1,000 tenants and 1,000 foreign objects would mean a million
 * comparisons.
 */
import type { KubeObject } from '../../kube/object.ts';
import { claimsOf } from './claims.ts';

/** The key of claims that need a full comparison: catch-all hosts and regular expressions. */
const ANY_HOST = '*';

/** Returns the index keys of an object: its hosts, as it writes them. */
export function claimKeys(object: KubeObject): readonly string[] {
  const keys = claimsOf(object).map(({ host, match }) =>
    match === 'regexp' || match === 'any' ? ANY_HOST : host,
  );
  return [...new Set(keys)];
}

/** Returns the keys of all objects that may cover a host: the host itself, and the wildcards above it. */
export function keysCovering(host: string): readonly string[] {
  const labels = host.split('.');
  const above = labels.slice(1).map((_, index) => `*.${labels.slice(index + 1).join('.')}`);
  return [host, ...above, ANY_HOST];
}

/** Returns the objects that may claim one of these hosts, without duplicates. */
export function claimantsOf(
  hosts: readonly string[],
  byKey: (key: string) => readonly KubeObject[],
): readonly KubeObject[] {
  const keys = new Set(hosts.flatMap(keysCovering));
  return [...new Set([...keys].flatMap(byKey))];
}
