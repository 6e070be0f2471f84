/**
 * The TenantRoutes of an Exposure: those that its plan wants, and previous ones that stay until the Exposure is Ready by
 * the new ones. Pure.
 */
import type { Edge } from '../api/edge.ts';
import { EXPOSURE_LABEL, MANAGED_BY } from '../api/labels.ts';
import type { TenantRoute, TenantRouteSpec } from '../api/tenant-route.ts';
import { exposureLabelValue, tenantRouteName } from '../edges/names.ts';
import type { ExposureRoutes, Route } from '../edges/route.ts';
import type { KubeObject } from '../kube/object.ts';
import { RESOURCES } from '../kube/resource.ts';

/** The TenantRoutes of these routes on an Edge, without an owner. */
export function tenantRoutes(routes: ExposureRoutes, edge: Edge): readonly TenantRoute[] {
  const { api, konnectivity } = routes;
  const all = konnectivity === undefined ? [api] : [api, konnectivity];
  return all.map((route) => tenantRoute(routes, edge, route));
}

/** Whether an object is a TenantRoute. */
export function isTenantRoute(object: KubeObject): object is TenantRoute {
  const { apiVersion, kind } = RESOURCES.tenantRoute;
  return object.kind === kind && object.apiVersion === apiVersion;
}

/** Whether a TenantRoute is served by this Edge with its present driver. */
export function isServedBy({ spec }: TenantRoute, edge: Pick<Edge, 'metadata' | 'spec'>): boolean {
  return spec.edgeRef.name === edge.metadata.name && spec.driver === edge.spec.driver;
}

/**
 * A previous TenantRoute that stays for a while: its host leads where the current host of the same type does. Undefined if
 * there is no such host any more.
 */
export function withCurrentBackend(
  { apiVersion, kind, metadata: { name, namespace }, spec }: TenantRoute,
  routes: ExposureRoutes,
): TenantRoute | undefined {
  const current = spec.type === 'API' ? routes.api : routes.konnectivity;
  if (current === undefined) return undefined;
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, labels: labelsOf(routes.name) },
    spec: { ...spec, backend: backendOf(current) },
  };
}

function tenantRoute({ name, namespace }: ExposureRoutes, edge: Edge, route: Route): TenantRoute {
  const { apiVersion, kind } = RESOURCES.tenantRoute;
  const { host } = route;
  const { driver } = edge.spec;
  const at = { edge: edge.metadata.name, driver, host };
  return {
    apiVersion,
    kind,
    metadata: { name: tenantRouteName(name, at), namespace, labels: labelsOf(name) },
    spec: {
      edgeRef: { name: edge.metadata.name },
      driver,
      exposureRef: { name },
      host,
      type: route.kind === 'api' ? 'API' : 'Konnectivity',
      backend: backendOf(route),
    },
  };
}

function labelsOf(exposure: string): Readonly<Record<string, string>> {
  return { ...MANAGED_BY, [EXPOSURE_LABEL]: exposureLabelValue(exposure) };
}

function backendOf({ service, port, portName }: Route): TenantRouteSpec['backend'] {
  return { service: { name: service, port, ...(portName !== '' && { portName }) } };
}
