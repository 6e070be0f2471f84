/**
 * The rule that decides which Exposure owns a host. The operator and the gateway share it, so they always agree. Pure.
 *
 * A host belongs to the Exposure of its first TenantRoute. The operator creates a TenantRoute only for a host that no
 * other Exposure owns, and reserves the host during the write. Two Exposures have a TenantRoute for the same host only
 * if another client created one, or if the API server processed a write late: a write of a previous leader, or a write
 * that got no response.
 *
 * The rule does not use status: a restore from backup keeps specs, labels and finalizers, and drops status.
 */
import type { ObjectMeta } from '../kube/object.ts';

/** The fields of a TenantRoute that the rule needs. */
export interface HostRoute {
  readonly metadata: ObjectMeta;
  readonly spec: { readonly exposureRef: { readonly name: string } };
}

/** The finalizer of an Exposure that has, or had, TenantRoutes. */
export const ROUTES_FINALIZER = 'snicket.dev/routes';

/**
 * Returns the TenantRoute that decides who owns a host, among all TenantRoutes of that host: the oldest, then the first
 * by namespace and name.
 */
export function firstRoute<T extends HostRoute>(routes: Iterable<T>): T | undefined {
  return firstOf(routes, (a, b) => byAge(a.metadata, b.metadata));
}

/** Returns the key, `namespace/name`, of the Exposure that a TenantRoute belongs to. */
export function exposureKeyOf({ metadata, spec }: HostRoute): string {
  return `${metadata.namespace}/${spec.exposureRef.name}`;
}

/**
 * Returns the owner of a host that has no TenantRoute, among the Exposures that claim it. Exposures with the routes
 * finalizer come first, then the oldest, then the first by namespace and name.
 */
export function firstClaimant<T extends { readonly metadata: ObjectMeta }>(
  exposures: Iterable<T>,
): T | undefined {
  return firstOf(
    exposures,
    (a, b) =>
      Number(hasHadRoutes(b.metadata)) - Number(hasHadRoutes(a.metadata)) ||
      byAge(a.metadata, b.metadata),
  );
}

function hasHadRoutes({ finalizers = [] }: ObjectMeta): boolean {
  return finalizers.includes(ROUTES_FINALIZER);
}

function firstOf<T>(all: Iterable<T>, order: (a: T, b: T) => number): T | undefined {
  let first: T | undefined;
  for (const one of all) if (first === undefined || order(one, first) < 0) first = one;
  return first;
}

function byAge(a: ObjectMeta, b: ObjectMeta): number {
  // Kubernetes timestamps sort as strings. An object without one does not exist in a cluster yet, and comes last.
  return (
    compare(a.creationTimestamp ?? '~', b.creationTimestamp ?? '~') ||
    compare(a.namespace ?? '', b.namespace ?? '') ||
    compare(a.name, b.name)
  );
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
