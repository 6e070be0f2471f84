/**
 * The plan for an Exposure: from the desired state and known facts to all objects that must exist. Pure: the same input
 * gives the same plan, so `render`, `diff` and a dry run show exactly what the operator writes.
 */
import type { Edge } from '../api/edge.ts';
import type { Exposure, WorkerMode } from '../api/exposure.ts';
import { hostsOf, isNotAllowed, type Hosts } from '../api/hosts.ts';
import { modeFinding, modeOf } from '../api/mode.ts';
import type { DiscoveredApis } from '../edges/driver.ts';
import type { ListenAddress } from '../net/listen-address.ts';
import { driverFor } from '../edges/driver-for.ts';
import type { KubeObject } from '../kube/object.ts';
import type { EndpointSlice } from '../kube/endpoints/endpoint-slice.ts';
import type { ProxyState } from '../tenant/proxy-addresses.ts';
import { tenantFindings, tenantObjects } from '../tenant/tenant-objects.ts';
import type { HostConflict } from './conflicts.ts';
import type { ControlPlane } from './control-plane.ts';
import type { ProxyCredentials, TenantFacts } from '../tenant/tenant-facts.ts';
import type { Finding } from '../api/finding.ts';
import { exposureRoutes, routesFindings } from './exposure-routes.ts';
import { fixedServiceFindings, fixedServiceObjects } from './fixed-service.ts';
import { ownedBy } from './ownership.ts';
import { isRouteOf } from './provider-ingress.ts';
import { tenantRoutes, unenforcedPolicy } from './tenant-routes.ts';
import type { ExposureRoutes } from '../edges/route.ts';

/** An Exposure with its Edge. */
export interface DesiredExposure {
  readonly exposure: Exposure;
  readonly edge: Edge;
  /**
   * The hosts of the Exposure, or why it has none. Default: the hosts of both specs, for a namespace without labels.
   */
  readonly hosts?: Hosts | Finding | undefined;
}

/**
 * What is known about the clusters. An absent fact is unknown, and the plan contains everything that does not depend on
 * it.
 */
export interface Facts {
  readonly controlPlane?: ControlPlane | undefined;
  readonly tenant?: TenantFacts | undefined;
  readonly credentials?: ProxyCredentials | undefined;
  /** The IP addresses or host names of the edge. Empty if unknown: its proxies then keep the reported ones. */
  readonly edgeAddresses: readonly string[];
  /** The addresses of the edge's own Service in the management cluster. Default: unknown. */
  readonly edgeClusterAddresses?: readonly string[] | undefined;
  /**
   * Whether the gateway runs on the same machine as the control planes and can dial their loopback addresses. Default:
   * no.
   */
  readonly isGatewayHere?: boolean | undefined;
  /** Reports whether the gateway itself listens at an address of that machine. Default: unknown. */
  readonly isGatewayAt?: ((address: ListenAddress) => boolean) | undefined;
  /** The APIs that the management cluster serves. */
  readonly served: DiscoveredApis;
  /** The current EndpointSlices of the tenant's Service default/kubernetes. */
  readonly currentSlices: readonly EndpointSlice[];
  /** The current proxies of the tenant. */
  readonly currentProxies?: ProxyState | undefined;
  /** The current ConfigMap of these proxies. */
  readonly currentConfig?: KubeObject | undefined;
  /** The image of the proxy, unless the Exposure names one. */
  readonly proxyImage: string;
  /**
   * Set if a host belongs to another Exposure. The Exposure then keeps its previous routes, if any, and gets no
   * new ones.
   */
  readonly conflict?: HostConflict | undefined;
}

/** A finding, and whether it concerns the specs, the routes or the tenant's objects. */
interface PlanFinding extends Finding {
  readonly about: 'spec' | 'routes' | 'tenant';
}

/** The objects that must exist, and the findings. */
export interface Plan {
  readonly mode: WorkerMode;
  /** Absent if the Exposure has no valid hosts. */
  readonly hosts?: Hosts | undefined;
  /** The address of the API, as `host:port`. */
  readonly endpoint?: string | undefined;
  /** Absent if nothing must be routed. */
  readonly routes?: ExposureRoutes | undefined;
  /** All objects in the management cluster. Absent if unknown: the existing objects then stay. */
  readonly management?: readonly KubeObject[] | undefined;
  /** All objects in the tenant. Absent if unknown: the existing objects then stay. */
  readonly tenant?: readonly KubeObject[] | undefined;
  readonly findings: readonly PlanFinding[];
}

/** Returns the plan for an Exposure. */
export function planExposure(desired: DesiredExposure, facts: Facts): Plan {
  return planTenant(desired, planManagement(desired, facts), facts);
}

/**
 * Returns the plan without the objects in the tenant. Routes depend neither on the tenant nor on its CA: some providers
 * determine readiness through them.
 */
function planManagement(desired: DesiredExposure, facts: Facts): Plan {
  const { exposure, edge } = desired;
  const { driver, port } = edge.spec;
  const mode = modeOf(driver, exposure.spec.worker.mode);
  const hosts = desired.hosts ?? hostsOf(exposure, edge, {});
  if ('code' in hosts) {
    // The routes of an Exposure that its Edge does not allow are removed, unless another Edge serves them.
    const removed = isNotAllowed(hosts) && hosts.code !== 'EdgeTerminating' && { management: [] };
    return { mode, ...removed, findings: about('spec', hosts) };
  }
  const known = { mode, hosts, endpoint: `${hosts.api}:${port}` };

  const { conflict, controlPlane } = facts;
  if (conflict !== undefined) {
    const { keepsRoutes, ...finding } = conflict;
    const management = keepsRoutes ? undefined : [];
    return { ...known, management, findings: about('spec', finding) };
  }
  const wrongMode = modeFinding(driver, mode);
  if (wrongMode !== undefined || controlPlane === undefined) {
    return { ...known, findings: about('spec', wrongMode) };
  }

  return { ...known, ...managementSide(desired, hosts, controlPlane, facts) };
}

/**
 * Returns the plan with the objects in the tenant. The facts may differ from those of the plan only in what concerns
 * the tenant.
 */
export function planTenant(desired: DesiredExposure, plan: Plan, facts: Facts): Plan {
  const { mode, hosts, routes } = plan;
  const { controlPlane } = facts;
  if (hosts === undefined || routes === undefined || controlPlane === undefined) return plan;
  const { tenant, findings } = tenantSideOf(desired, { mode, hosts }, controlPlane, facts);
  const others = plan.findings.filter((finding) => finding.about !== 'tenant');
  return { ...plan, tenant, findings: [...others, ...findings] };
}

function managementSide(
  { exposure, edge }: DesiredExposure,
  hosts: Hosts,
  controlPlane: ControlPlane,
  { served, edgeAddresses, edgeClusterAddresses = [], isGatewayHere, isGatewayAt }: Facts,
): Required<Pick<Plan, 'routes' | 'management' | 'findings'>> {
  const input = { exposure, hosts, controlPlane };
  const { ingress } = controlPlane;
  const isProvided = ingress !== undefined && isRouteOf(edge, ingress, hosts, served);
  const routes = {
    ...exposureRoutes(input),
    ...(isProvided && { providerIngress: ingress.name }),
  };
  const { endpoints } = exposure.spec.controlPlane;
  const edgeListeners = {
    addresses: edgeAddresses,
    port: edge.spec.port,
    clusterAddresses: edgeClusterAddresses,
    isGatewayHere,
    isGatewayAt,
  };
  const service =
    endpoints === undefined ? [] : fixedServiceObjects(routes, endpoints, edgeListeners);
  const objects = isProvided ? [] : driverFor(edge.spec.driver).objects(routes, edge, served);
  return {
    routes,
    // TenantRoutes come first: they record who owns the hosts.
    management: ownedBy(exposure, [
      ...tenantRoutes(routes, edge, exposure),
      ...service,
      ...objects,
    ]),
    findings: about(
      'routes',
      ...routesFindings(input),
      unenforcedPolicy(exposure, edge),
      ...(endpoints === undefined ? [] : fixedServiceFindings(endpoints, edgeListeners)),
    ),
  };
}

/** Returns the objects in the tenant once the tenant answers and the proxies have credentials. */
function tenantSideOf(
  { exposure, edge }: DesiredExposure,
  { mode, hosts }: { readonly mode: WorkerMode; readonly hosts: Hosts },
  { ca }: ControlPlane,
  facts: Facts,
): Pick<Plan, 'tenant' | 'findings'> {
  const { tenant, credentials, edgeAddresses, currentSlices, currentProxies, currentConfig } =
    facts;
  const { worker } = exposure.spec;
  const found = [
    ...(mode === 'Terminate' &&
    credentials === undefined &&
    ca !== undefined &&
    ca.key === undefined
      ? [caKeyMissing(edge)]
      : []),
    ...(tenant === undefined ? [] : tenantFindings({ worker, tenant })),
  ];
  const findings = about('tenant', ...found);
  const hasError = found.some(({ severity }) => severity === 'error');
  if (hasError || tenant === undefined || ca === undefined || credentials === undefined) {
    return { findings };
  }
  if ('tenantKey' in credentials !== (mode === 'Passthrough')) return { findings };
  const objects = tenantObjects({
    worker,
    mode,
    tenant,
    credentials,
    edgeAddresses,
    areAddressesReported: edge.spec.addresses === undefined,
    currentConfig,
    currentSlices,
    currentProxies,
    image: facts.proxyImage,
    host: hosts.api,
    port: edge.spec.port,
    edge: `${edge.metadata.name} ${edge.spec.driver}`,
    addressSource: addressSourceOf(edge),
    exposure: exposure.spec,
    authority: ca.certificate,
  });
  return { tenant: objects, findings };
}

function caKeyMissing(edge: Edge): Finding {
  return {
    code: 'CaKeyMissing',
    severity: 'error',
    message:
      "Mode Terminate requires a certificate signed by the tenant's CA, but the Secret of the CA has no key to sign it with.",
    action:
      edge.spec.driver === 'snicket'
        ? 'Add the key to that Secret, or set worker.mode to Passthrough.'
        : 'Add the key to that Secret, or choose an Edge with driver snicket and set worker.mode to Passthrough.',
  };
}

function about(
  about: PlanFinding['about'],
  ...findings: readonly (Finding | undefined)[]
): readonly PlanFinding[] {
  return findings.flatMap((finding) => (finding === undefined ? [] : { ...finding, about }));
}

/** Returns the ingress class or the Gateways of an Edge. Another one of them has other addresses. */
function addressSourceOf({ spec: { ingress, gatewayApi } }: Edge): string | undefined {
  const gateways = gatewayApi?.parentRefs.map(({ namespace, name }) => `${namespace}/${name}`);
  return gateways?.toSorted().join(',') ?? ingress?.className;
}
