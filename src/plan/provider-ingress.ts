/**
 * An Ingress of a provider that is the route of a tenant: the controller of the Edge serves it, and passes TLS through.
 * Snicket then creates no Ingress, which would claim the same hosts.
 */
import type { Edge } from '../api/edge.ts';
import type { Hosts } from '../api/hosts.ts';
import { driverFor } from '../edges/driver-for.ts';
import type { DiscoveredApis } from '../edges/driver.ts';
import type { Route, RouteKind } from '../edges/route.ts';
import type { KubeObject } from '../kube/object.ts';
import { RESOURCES } from '../kube/resource.ts';
import { listAt, textAt, textMapAt } from '../kube/unstructured.ts';
import type { ProviderIngress } from './control-plane.ts';

/** Reports whether an Ingress has these hosts, the class of the Edge, and the annotations for TLS passthrough. */
export function isRouteOf(
  edge: Edge,
  { hosts, className, annotations }: ProviderIngress,
  wanted: Hosts,
  served: DiscoveredApis,
): boolean {
  if (hosts.api !== wanted.api) return false;
  if (wanted.konnectivity !== undefined && hosts.konnectivity !== wanted.konnectivity) return false;
  // The user of such an Edge creates the routes, and may do so by the provider.
  if (edge.spec.driver === 'None') return true;
  // Class and annotations do not depend on the routes.
  const routes = { name: 'any', namespace: 'any', api: routeTo('api', wanted.api) };
  const [ownRoute, ...others] = driverFor(edge.spec.driver).objects(routes, edge, served);
  if (ownRoute?.kind !== RESOURCES.ingress.kind || others.length > 0) return false;
  const ownClass = textAt(ownRoute, 'spec', 'ingressClassName');
  return (
    ownClass !== undefined &&
    ownRoute.metadata.annotations !== undefined &&
    ownClass === className &&
    passthroughAnnotations(ownRoute.metadata.annotations).every(
      ([name, value]) => annotations.get(name) === value,
    )
  );
}

/**
 * Reports whether the current Ingress of a provider has what {@link isRouteOf} requires: its provider may not have written the
 * latest fields of the control plane yet, and other clients may have changed it.
 */
export function isCurrentRouteOf(
  edge: Edge,
  ingress: KubeObject,
  { api, konnectivity }: Hosts,
  served: DiscoveredApis,
): boolean {
  if (edge.spec.driver === 'None') return true;
  const current = listAt(ingress, 'spec', 'rules').map((rule) => textAt(rule, 'host'));
  const isComplete = [api, konnectivity].every(
    (host) => host === undefined || current.includes(host),
  );
  const provided = {
    name: ingress.metadata.name,
    className: textAt(ingress, 'spec', 'ingressClassName'),
    annotations: textMapAt(ingress, 'metadata', 'annotations'),
    hosts: { api, konnectivity },
  };
  return isComplete && isRouteOf(edge, provided, { api, konnectivity }, served);
}

/** The name of the annotation in all controllers with a driver of their own. */
const PASSTHROUGH = '/ssl-passthrough';

/** Returns the annotations that enable TLS passthrough, or all for a controller whose annotations are the user's. */
function passthroughAnnotations(
  annotations: Readonly<Record<string, string>> = {},
): readonly (readonly [string, string])[] {
  const all = Object.entries(annotations);
  const known = all.filter(([name]) => name.endsWith(PASSTHROUGH));
  return known.length > 0 ? known : all;
}

function routeTo(kind: RouteKind, host: string): Route {
  return { kind, host, service: 'any', port: 443, portName: '' };
}
