/**
 * Which Exposure owns a host. Operator and gateway share this rule, so that both always agree. Pure.
 *
 * A host belongs to the Exposure of its first TenantRoute. The operator creates a TenantRoute only for a host that no
 * other Exposure owns, and reserves the host while it writes. Two Exposures have one for the same host only if another
 * client created it, or if the API server processes a write late: one of a previous leader, or one without an answer.
 *
 * The rule uses no status: a restore from backup keeps specs, labels and finalizers, and drops status.
 */
import type { ObjectMeta } from '../kube/object.ts';

/** As much of a TenantRoute as the rule needs. */
export interface HostRoute {
  readonly metadata: ObjectMeta;
  readonly spec: { readonly exposureRef: { readonly name: string } };
}

/** The finalizer of an Exposure that has, or had, TenantRoutes. */
export const ROUTES_FINALIZER = 'snicket.dev/routes';

/** The TenantRoute that decides who owns the host of all these: the oldest one, then the first by namespace and name. */
export function firstRoute<T extends HostRoute>(routes: Iterable<T>): T | undefined {
  return firstOf(routes, (a, b) => bySeniority(a.metadata, b.metadata));
}

/** The key, `namespace/name`, of the Exposure that a TenantRoute is for. */
export function exposureKeyOf({ metadata, spec }: HostRoute): string {
  return `${metadata.namespace}/${spec.exposureRef.name}`;
}

/**
 * The Exposure that a host without a TenantRoute belongs to, among those that claim it: one that holds the finalizer of
 * routes before one that does not, then the oldest, then the first by namespace and name.
 */
export function firstClaimant<T extends { readonly metadata: ObjectMeta }>(
  exposures: Iterable<T>,
): T | undefined {
  return firstOf(
    exposures,
    (a, b) =>
      Number(hasHadRoutes(b.metadata)) - Number(hasHadRoutes(a.metadata)) ||
      bySeniority(a.metadata, b.metadata),
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

function bySeniority(a: ObjectMeta, b: ObjectMeta): number {
  // Kubernetes writes times so that they sort as texts. An object without one is not in any cluster yet.
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
