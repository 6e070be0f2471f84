/**
 * From facts and a wish to everything that has to be there. Pure: the same input gives the same plan, so that `render`,
 * `diff` and a dry run are what the operator does, but for the writing.
 */
import type { Edge } from '../api/edge.ts';
import type { Exposure, WorkerMode } from '../api/exposure.ts';
import { hostsOf, isNotAllowed, type Hosts } from '../api/hosts.ts';
import { modeFault, modeOf } from '../api/mode.ts';
import type { ServedApis } from '../edges/driver.ts';
import type { ListenAddress } from '../net/listen-address.ts';
import { driverFor } from '../edges/driver-for.ts';
import type { KubeObject } from '../kube/object.ts';
import type { EndpointSlice } from '../kube/endpoints/endpoint-slice.ts';
import type { PlacedProxies } from '../tenant/proxy-addresses.ts';
import { tenantFindings, tenantObjects } from '../tenant/tenant-objects.ts';
import type { HostConflict } from './conflicts.ts';
import type { ControlPlane } from './control-plane.ts';
import type { ProxyCredentials, TenantFacts } from '../tenant/tenant-facts.ts';
import type { Finding } from '../api/finding.ts';
import { exposureRoutes, routesFindings } from './exposure-routes.ts';
import { fixedServiceFindings, fixedServiceObjects } from './fixed-service.ts';
import { ownedBy } from './ownership.ts';
import { tenantRoutes, unenforcedPolicy } from './tenant-routes.ts';
import type { ExposureRoutes } from '../edges/route.ts';

/** An Exposure with its Edge. */
export interface DesiredExposure {
  readonly exposure: Exposure;
  readonly edge: Edge;
  /** The hosts of the Exposure, or why it has none. Default: as both specs say, in a namespace without labels. */
  readonly hosts?: Hosts | Finding | undefined;
}

/** What is known. Whatever is absent is not known yet: the plan goes as far as it can. */
export interface Facts {
  readonly controlPlane?: ControlPlane | undefined;
  readonly tenant?: TenantFacts | undefined;
  readonly credentials?: ProxyCredentials | undefined;
  /** The addresses of the edge, IP addresses or host names. */
  readonly edgeAddresses: readonly string[];
  /** Of the edge's own Service in the management cluster. Default: none is known. */
  readonly edgeClusterAddresses?: readonly string[] | undefined;
  /** Whether the edge gets to loopback addresses of control planes, being on the same machine. Default: no. */
  readonly isGatewayHere?: boolean | undefined;
  /** Whether it listens there then. Default: that is not known. */
  readonly isGatewayAt?: ((place: ListenAddress) => boolean) | undefined;
  /** What the management cluster serves. */
  readonly served: ServedApis;
  /** The tenant's slices of Service default/kubernetes. */
  readonly currentSlices: readonly EndpointSlice[];
  /** The tenant's proxies as they are. */
  readonly placed?: PlacedProxies | undefined;
  /** The image of the proxy, if the Exposure names none. */
  readonly proxyImage: string;
  /** That a host belongs to another Exposure: then this one is routed as it was before, or not at all. */
  readonly conflict?: HostConflict | undefined;
}

/** A finding, and what it is about: the wish as such, its routes, or the tenant's side. */
export interface PlanFinding extends Finding {
  readonly about: 'wish' | 'routes' | 'tenant';
}

/** What has to be there. */
export interface Plan {
  readonly mode: WorkerMode;
  /** Absent: none can be made. */
  readonly hosts?: Hosts | undefined;
  /** Where the API is found, `host:port`. */
  readonly endpoint?: string | undefined;
  /** Absent: nothing is to be routed. */
  readonly routes?: ExposureRoutes | undefined;
  /** All objects for the management cluster. Absent: that cannot be told now, and what is there stays. */
  readonly management?: readonly KubeObject[] | undefined;
  /** All objects for the tenant's cluster. Absent: that cannot be told now, and what is there stays. */
  readonly tenant?: readonly KubeObject[] | undefined;
  readonly findings: readonly PlanFinding[];
}

/** The plan for one Exposure, as far as the facts go. */
export function planExposure(desired: DesiredExposure, facts: Facts): Plan {
  return planTenant(desired, planManagement(desired, facts), facts);
}

/** The plan without the tenant's side. Routes need neither the tenant nor its CA: providers judge readiness through them. */
function planManagement(desired: DesiredExposure, facts: Facts): Plan {
  const { exposure, edge } = desired;
  const { driver, port } = edge.spec;
  const mode = modeOf(driver, exposure.spec.worker.mode);
  const hosts = desired.hosts ?? hostsOf(exposure, edge, {});
  if ('code' in hosts) {
    // The routes of an Exposure that its Edge does not allow are removed, unless another Edge serves them.
    const removed = isNotAllowed(hosts) && hosts.code !== 'EdgeTerminating' && { management: [] };
    return { mode, ...removed, findings: about('wish', hosts) };
  }
  const known = { mode, hosts, endpoint: `${hosts.api}:${port}` };

  const { conflict, controlPlane } = facts;
  if (conflict !== undefined) {
    const { keepsRoute, ...finding } = conflict;
    const management = keepsRoute ? undefined : [];
    return { ...known, management, findings: about('wish', finding) };
  }
  const wrongMode = modeFault(driver, mode);
  if (wrongMode !== undefined || controlPlane === undefined) {
    return { ...known, findings: about('wish', wrongMode) };
  }

  return { ...known, ...managementSide(desired, hosts, controlPlane, facts) };
}

/** The plan with the tenant's side. The facts differ from those of the plan in the tenant's alone. */
export function planTenant(desired: DesiredExposure, plan: Plan, facts: Facts): Plan {
  const { mode, hosts, routes } = plan;
  const { controlPlane } = facts;
  if (hosts === undefined || routes === undefined || controlPlane === undefined) return plan;
  const { tenant, findings } = tenantSideOf(desired, { mode, hosts }, controlPlane, facts);
  const others = plan.findings.filter((one) => one.about !== 'tenant');
  return { ...plan, tenant, findings: [...others, ...findings] };
}

function managementSide(
  { exposure, edge }: DesiredExposure,
  hosts: Hosts,
  controlPlane: ControlPlane,
  { served, edgeAddresses, edgeClusterAddresses = [], isGatewayHere, isGatewayAt }: Facts,
): Required<Pick<Plan, 'routes' | 'management' | 'findings'>> {
  const input = { exposure, hosts, controlPlane };
  const routes = exposureRoutes(input);
  const { endpoints } = exposure.spec.controlPlane;
  const place = {
    addresses: edgeAddresses,
    port: edge.spec.port,
    clusterAddresses: edgeClusterAddresses,
    isGatewayHere,
    isGatewayAt,
  };
  const service = endpoints === undefined ? [] : fixedServiceObjects(routes, endpoints, place);
  const objects = driverFor(edge.spec.driver).objects(routes, edge, served);
  return {
    routes,
    // TenantRoutes first: they are the record of who owns the hosts.
    management: ownedBy(exposure, [
      ...tenantRoutes(routes, edge, exposure),
      ...service,
      ...objects,
    ]),
    findings: about(
      'routes',
      ...routesFindings(input),
      unenforcedPolicy(exposure, edge),
      ...(endpoints === undefined ? [] : fixedServiceFindings(endpoints, place)),
    ),
  };
}

/** The tenant's side waits for the tenant to answer, and for something to serve with. */
function tenantSideOf(
  { exposure, edge }: DesiredExposure,
  { mode, hosts }: { readonly mode: WorkerMode; readonly hosts: Hosts },
  { ca }: ControlPlane,
  { tenant, credentials, edgeAddresses, currentSlices, placed, proxyImage }: Facts,
): Pick<Plan, 'tenant' | 'findings'> {
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
  const isHopeless = found.some(({ severity }) => severity === 'error');
  if (isHopeless || tenant === undefined || ca === undefined || credentials === undefined) {
    return { findings };
  }
  if ('tenantKey' in credentials !== (mode === 'Passthrough')) return { findings };
  const objects = tenantObjects({
    worker,
    mode,
    tenant,
    credentials,
    edgeAddresses,
    currentSlices,
    placed,
    image: proxyImage,
    host: hosts.api,
    port: edge.spec.port,
    edge: `${edge.metadata.name} ${edge.spec.driver}`,
    authority: ca.certificate,
  });
  return { tenant: objects, findings };
}

function caKeyMissing(edge: Edge): Finding {
  return {
    code: 'CaKeyMissing',
    severity: 'error',
    message: `mode Terminate needs a certificate by the tenant's CA, and the Secret of the CA has no key to sign one with`,
    action:
      edge.spec.driver === 'snicket'
        ? 'put the key into that Secret, or write worker.mode Passthrough'
        : 'put the key into that Secret, or choose an Edge with driver snicket and worker.mode Passthrough',
  };
}

function about(
  what: PlanFinding['about'],
  ...findings: readonly (Finding | undefined)[]
): readonly PlanFinding[] {
  return findings.flatMap((finding) => (finding === undefined ? [] : { ...finding, about: what }));
}
