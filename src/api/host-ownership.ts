/**
 * The rules that decide which Exposure owns a host. The operator and the gateway share them, so they always agree.
 * Pure.
 *
 * - A host with TenantRoutes belongs to the Exposure of the oldest one, see {@link owningRoute}.
 * - A host without a TenantRoute belongs to one of the Exposures that claim it, see {@link firstClaimant}.
 *
 * The operator creates a TenantRoute only for a host that no other Exposure owns. It reserves the host in memory during
 * the create request. Two Exposures have TenantRoutes for the same host only if another client creates one, or if the
 * API server applies a create request late: that of a previous leader, or one without a response to the operator.
 *
 * A restore from backup keeps specs, labels and finalizers, but drops status and resets creationTimestamp. Therefore
 * the rules do not use status, and the routes finalizer decides before age.
 */
import type { ObjectMeta } from '../kube/object.ts';

/** The fields of a TenantRoute that determine ownership. */
export interface HostRoute {
  readonly metadata: ObjectMeta;
  readonly spec: { readonly exposureRef: { readonly name: string } };
}

/** The finalizer of an Exposure that has, or had, TenantRoutes. Added before the first TenantRoute is created. */
export const ROUTES_FINALIZER = 'snicket.dev/routes';

/**
 * Returns the TenantRoute whose Exposure owns a host, among all TenantRoutes of that host: the oldest, then the first by
 * namespace and name.
 */
export function owningRoute<T extends HostRoute>(routesOfHost: Iterable<T>): T | undefined {
  return oldestRoute(routesOfHost);
}

/** Returns the oldest of these TenantRoutes, then the first by namespace and name. */
export function oldestRoute<T extends HostRoute>(routes: Iterable<T>): T | undefined {
  return firstOf(routes, (a, b) => compareByCreation(a.metadata, b.metadata));
}

/** Returns the key, `namespace/name`, of the Exposure that a TenantRoute references. */
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
      Number(hasRoutesFinalizer(b.metadata)) - Number(hasRoutesFinalizer(a.metadata)) ||
      compareByCreation(a.metadata, b.metadata),
  );
}

function hasRoutesFinalizer({ finalizers = [] }: ObjectMeta): boolean {
  return finalizers.includes(ROUTES_FINALIZER);
}

function firstOf<T>(items: Iterable<T>, compareItems: (a: T, b: T) => number): T | undefined {
  let first: T | undefined;
  for (const item of items) if (first === undefined || compareItems(item, first) < 0) first = item;
  return first;
}

/** Compares by creation time, then by namespace and name. */
function compareByCreation(a: ObjectMeta, b: ObjectMeta): number {
  // Kubernetes timestamps sort as strings. An object without a timestamp was not created yet: `~` sorts it last, because
  // it is greater than every digit.
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
