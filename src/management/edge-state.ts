/**
 * The state of an Edge in the management cluster: its addresses, and what prevents it from serving
 * routes.
 */
import type { Edge } from '../api/edge.ts';
import type { Finding } from '../api/finding.ts';
import { systemClock } from '../clock/clock.ts';
import { foreignClaims } from '../edges/claims/foreign-claims.ts';
import { driverFor } from '../edges/driver-for.ts';
import type { EdgeContext } from '../edges/driver.ts';
import { previousRoutes } from '../edges/previous-routes.ts';
import type { ExposureRoutes } from '../edges/route.ts';
import type { KubeError } from '../kube/kube-error.ts';
import type { KubeObject, ObjectKey } from '../kube/object.ts';
import { groupOf, RESOURCES } from '../kube/resource.ts';
import { ownRoutes } from '../plan/ownership.ts';
import type { Plan } from '../plan/plan.ts';
import type { Service } from '../providers/plain.ts';
import type { ManagementContext, ManagementView } from './management-view.ts';

/** The Service in front of Snicket's own gateway, in the operator's namespace. */
const GATEWAY_SERVICE = 'snicket-gateway';

/** Reads everything that the driver of an Edge depends on. */
export function edgeContext(
  { management, namespace: operatorNamespace, clock = systemClock }: ManagementContext,
  edge: Edge,
  namespace?: string,
): EdgeContext {
  const service = edgeService({ namespace: operatorNamespace }, edge);
  return {
    edge,
    served: management.served,
    ingressClasses: management.all(RESOURCES.ingressClass),
    gateways: management.all(RESOURCES.gateway),
    gatewayClasses: management.all(RESOURCES.gatewayClass),
    namespaceLabels: namespace === undefined ? {} : management.namespaceLabels(namespace),
    service: service && management.service(service),
    nowMs: clock.now().getTime(),
  };
}

/**
 * Returns the key of the Service in front of an Edge; undefined if unknown. It is known only for Snicket's own
 * gateway.
 */
export function edgeService(
  { namespace }: Pick<ManagementContext, 'namespace'>,
  { spec }: Edge,
): ObjectKey | undefined {
  return spec.driver === 'snicket' ? { namespace, name: GATEWAY_SERVICE } : undefined;
}

/** The maximum number of addresses in the status of an Edge. */
const MAX_ADDRESSES = 16;

/** Returns the sorted addresses of an Edge, from its spec or as its controller reports them. Empty if unknown. */
export function edgeAddresses(
  context: EdgeContext,
  live: readonly KubeObject[],
): readonly string[] {
  const { edge } = context;
  const driver = driverFor(edge.spec.driver);
  const previous = new Set(previousRoutes(live, edge));
  const objects = live.filter(
    (object) =>
      !previous.has(object) &&
      driver.requires.some(
        ({ kind, apiVersion }) =>
          kind === object.kind && groupOf(apiVersion) === groupOf(object.apiVersion),
      ),
  );
  const reported = new Set(driver.addresses(objects, context));
  return [...reported].toSorted().slice(0, MAX_ADDRESSES);
}

/**
 * Returns the cluster IPs of Snicket's own gateway in the management cluster; none for other edges.
 */
export function edgeClusterAddresses({
  service,
}: {
  readonly service?: Service | undefined;
}): readonly string[] {
  const { clusterIP = '', clusterIPs = [clusterIP] } = service?.spec ?? {};
  return clusterIPs.filter((address) => address !== '' && address !== 'None');
}

/** Returns why an Edge cannot serve any route; undefined if it can. */
export function edgeFault(context: EdgeContext): Finding | undefined {
  const findings = driverFor(context.edge.spec.driver).findings(undefined, context);
  return findings.find(({ severity }) => severity === 'error');
}

/** Returns why the kinds of the driver of an Edge cannot be read; undefined if they can. */
export function edgeReadError(
  management: Pick<ManagementView, 'readErrorOf'>,
  { spec }: Edge,
): KubeError | undefined {
  const { requires, reads } = driverFor(spec.driver);
  return [...requires, ...reads]
    .map((resource) => management.readErrorOf(resource))
    .find((error) => error !== undefined);
}

/** Returns what is wrong with the configuration of an Edge for the routes of an Exposure. */
export function edgeFindings(
  cluster: ManagementContext,
  routes: ExposureRoutes,
  edge: Edge,
): readonly Finding[] {
  return driverFor(edge.spec.driver).findings(routes, edgeContext(cluster, edge, routes.namespace));
}

/** Returns the findings about foreign claims of the hosts of an Exposure. */
export function foreignClaimFindings(
  { management }: ManagementContext,
  exposure: KubeObject,
  { routes, management: planned = [] }: Pick<Plan, 'routes' | 'management'>,
  edge: Edge,
): readonly Finding[] {
  const hosts = [routes?.api.host, routes?.konnectivity?.host].flatMap((host) => host ?? []);
  const isOwn = ownRoutes(exposure, planned);
  const provided = routes && providerIngress({ management }, routes);
  return foreignClaims(
    hosts,
    management.claimants(hosts),
    (object) => object === provided || isOwn(object),
    edge,
  );
}

/** The Ingress of the provider that has these routes; undefined if there is none. */
export function providerIngress(
  { management }: Pick<ManagementContext, 'management'>,
  { providerIngress: name, namespace, api }: ExposureRoutes,
): KubeObject | undefined {
  return name === undefined ? undefined : ingressOf(management, api.host, { name, namespace });
}

/** The Ingress of this name that claims a host; undefined if there is none. */
export function ingressOf(
  management: Pick<ManagementView, 'claimants'>,
  host: string,
  { name, namespace }: ObjectKey,
): KubeObject | undefined {
  return management
    .claimants([host])
    .find(
      ({ kind, metadata }) =>
        kind === RESOURCES.ingress.kind &&
        metadata.name === name &&
        metadata.namespace === namespace,
    );
}

/**
 * Returns {@link edgeFindings} and {@link foreignClaimFindings}; none for a plan without routes.
 */
export function routeFindings(
  cluster: ManagementContext,
  exposure: KubeObject,
  plan: Pick<Plan, 'routes' | 'management'>,
  edge: Edge,
): readonly Finding[] {
  if (plan.routes === undefined) return [];
  return [
    ...edgeFindings(cluster, plan.routes, edge),
    ...foreignClaimFindings(cluster, exposure, plan, edge),
  ];
}
