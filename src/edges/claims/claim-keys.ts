/**
 * Which objects may claim a host, found by keys instead of a walk over all of them: of 1,000 tenants with 1,000 objects
 * of others, each would be compared with each.
 */
import type { KubeObject } from '../../kube/object.ts';
import { claimsOf } from './claims.ts';

/** Of claims that only a closer look can judge: every host, or an expression. */
const ANY_HOST = '*';

/** The keys by which an object is to be found, for an index: its hosts as it writes them. */
export function claimKeys(object: KubeObject): readonly string[] {
  const keys = claimsOf(object).map(({ host, match }) =>
    match === 'regexp' || match === 'any' ? ANY_HOST : host,
  );
  return [...new Set(keys)];
}

/** The keys of every object that may cover a host: the host itself, and the wildcards above it. */
export function keysCovering(host: string): readonly string[] {
  const labels = host.split('.');
  const above = labels.slice(1).map((_, index) => `*.${labels.slice(index + 1).join('.')}`);
  return [host, ...above, ANY_HOST];
}

/** The objects that may claim one of these hosts, each once. */
export function claimantsOf(
  hosts: readonly string[],
  byKey: (key: string) => readonly KubeObject[],
): readonly KubeObject[] {
  const keys = new Set(hosts.flatMap(keysCovering));
  return [...new Set([...keys].flatMap(byKey))];
}
