/**
 * The TenantRoutes of an Exposure: those in its plan, and previous ones that stay until the Exposure is Ready with the
 * new ones. Pure.
 */
import type { Edge } from '../api/edge.ts';
import type { Exposure } from '../api/exposure.ts';
import type { Finding } from '../api/finding.ts';
import { EXPOSURE_LABEL, MANAGED_BY, PREVIOUS_LABEL } from '../api/labels.ts';
import type { TenantRoute, TenantRouteSpec } from '../api/tenant-route.ts';
import { exposureLabelValue, tenantRouteName } from '../edges/names.ts';
import type { ExposureRoutes, Route } from '../edges/route.ts';
import type { KubeObject } from '../kube/object.ts';
import { RESOURCES } from '../kube/resource.ts';

/** Returns the TenantRoutes for these routes on an Edge, without owner references. */
export function tenantRoutes(
  routes: ExposureRoutes,
  edge: Edge,
  exposure: PolicySource,
): readonly TenantRoute[] {
  const { api, konnectivity } = routes;
  const all = konnectivity === undefined ? [api] : [api, konnectivity];
  const policy = policyOf(exposure);
  return all.map((route) => tenantRoute(routes, edge, route, policy));
}

/** The fields of an Exposure with limits and allowed sources. */
type PolicySource = { readonly spec: Pick<Exposure['spec'], 'limits' | 'access'> };

/**
 * Returns the finding that an Edge does not enforce the limits or allowed sources of an Exposure; undefined if it
 * enforces all of them.
 */
export function unenforcedPolicy(exposure: PolicySource, edge: Edge): Finding | undefined {
  const { driver } = edge.spec;
  const fields = Object.keys(policyOf(exposure)).map((field) =>
    field === 'limits' ? 'spec.limits' : 'spec.access.allowedSources',
  );
  if (driver === 'snicket' || fields.length === 0) return undefined;
  return {
    code: 'PolicyNotEnforced',
    severity: 'warning',
    message: `Edge ${edge.metadata.name} has driver ${driver}, which does not enforce ${fields.join(' and ')}.`,
    action: 'Choose an Edge with driver snicket, or configure this in the ingress controller.',
  };
}

type Policy = Pick<TenantRouteSpec, 'limits' | 'allowedSources'>;

function policyOf({ spec: { limits = {}, access = {} } }: PolicySource): Policy {
  const { allowedSources } = access;
  return {
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(allowedSources !== undefined && { allowedSources }),
  };
}

/** Reports whether an object is a TenantRoute. */
export function isTenantRoute(object: KubeObject): object is TenantRoute {
  const { apiVersion, kind } = RESOURCES.tenantRoute;
  return object.kind === kind && object.apiVersion === apiVersion;
}

/** Reports whether the Exposure of a TenantRoute has moved to another host, Edge or driver, by its label. */
export function isPrevious({ metadata: { labels = {} } }: Pick<KubeObject, 'metadata'>): boolean {
  return Object.entries(PREVIOUS_LABEL).every(([label, value]) => labels[label] === value);
}

/** Reports whether this Edge, with its current driver, serves a TenantRoute. */
export function isServedBy({ spec }: TenantRoute, edge: Pick<Edge, 'metadata' | 'spec'>): boolean {
  return spec.edgeRef.name === edge.metadata.name && spec.driver === edge.spec.driver;
}

/**
 * Returns a TenantRoute as a previous one, which stays until the move is complete: with its label, and with the
 * backend, limits and allowed sources of the current host of the same type. Undefined if no current host has that
 * type.
 */
export function withCurrentBackend(
  { apiVersion, kind, metadata: { name, namespace }, spec }: TenantRoute,
  routes: ExposureRoutes,
  exposure: PolicySource,
): TenantRoute | undefined {
  const current = spec.type === 'API' ? routes.api : routes.konnectivity;
  if (current === undefined) return undefined;
  const { limits: _, allowedSources: __, ...identity } = spec;
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, labels: { ...labelsOf(routes.name), ...PREVIOUS_LABEL } },
    spec: { ...identity, backend: backendOf(current), ...policyOf(exposure) },
  };
}

function tenantRoute(
  { name, namespace }: ExposureRoutes,
  edge: Edge,
  route: Route,
  policy: Policy,
): TenantRoute {
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
      ...policy,
    },
  };
}

function labelsOf(exposure: string): Readonly<Record<string, string>> {
  return { ...MANAGED_BY, [EXPOSURE_LABEL]: exposureLabelValue(exposure) };
}

function backendOf({ service, port, portName }: Route): TenantRouteSpec['backend'] {
  return { service: { name: service, port, ...(portName !== '' && { portName }) } };
}
