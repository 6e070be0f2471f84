/**
 * Observes one Exposure: reads everything that its plan depends on, decides and writes nothing.
 */
import type { Clock } from '../clock/clock.ts';
import type { KubeObject, ObjectKey } from '../kube/object.ts';
import type { ListenAddress } from '../net/listen-address.ts';
import { RESOURCES } from '../kube/resource.ts';
import type { Facts, Plan } from '../plan/plan.ts';
import { isCurrentRouteOf } from '../plan/provider-ingress.ts';
import {
  readControlPlane,
  type ControlPlaneObjects,
  type ControlPlaneReading,
} from '../providers/reading/read-control-plane.ts';
import { proxyState } from '../tenant/proxy-addresses.ts';
import { PROXY, PROXY_CONFIG } from '../tenant/proxy-names.ts';
import { controlPlaneObjects } from '../management/control-plane-objects.ts';
import {
  dependencyOn,
  dependencyOnNames,
  type Dependency,
} from '../management/dependency-index.ts';
import {
  edgeAddresses,
  edgeClusterAddresses,
  edgeContext,
  edgeService,
  ingressOf,
} from '../management/edge-state.ts';
import type { ResolvedExposure } from '../management/exposure-index.ts';
import type { ManagementContext } from '../management/management-view.ts';
import type { CredentialsFound, CredentialsInput } from './tenant/credentials.ts';
import { readTenantFacts } from './tenant/tenant-facts.ts';
import { readTenantSide } from './tenant/tenant-side.ts';
import type { TenantView } from './tenant/link/tenant-view.ts';

/** The management cluster that is observed, and what it does not say. */
export interface ObserveDeps extends ManagementContext {
  /** The image of the proxy, for Exposures that name none. */
  readonly proxyImage: string;
  /** Whether the gateway is on this machine, and so reaches its loopback addresses. Default: it is in the cluster. */
  readonly isGatewayHere?: boolean | undefined;
  /** Whether the gateway listens there. Default: that is not known. */
  readonly isGatewayAt?: ((address: ListenAddress) => boolean) | undefined;
}

/** A Secret that was read for an Exposure. Secrets are not watched: the operator reads them again from time to time. */
export interface ReadSecret {
  readonly key: ObjectKey;
  /** Its resourceVersion. Absent: it did not exist. */
  readonly version: string | undefined;
}

/** What the management cluster says about an Exposure and its control plane. */
export interface Observation {
  /** The Exposure as the API server has it. */
  readonly object: KubeObject;
  /** The Exposure with its Edge. */
  readonly resolved: ResolvedExposure;
  readonly reading: ControlPlaneReading;
  readonly secrets: readonly ReadSecret[];
  /** Everything that was read by key, and is watched. */
  readonly dependencies: ReadonlySet<Dependency>;
  /** The input of the plan. */
  readonly facts: Facts;
}

/** What the tenant says. */
interface TenantObservation extends Omit<CredentialsFound, 'credentials'> {
  /** The input of the plan, the tenant included. */
  readonly facts: Facts;
  /** Everything in the tenant that has a name of ours, no matter who created it. */
  readonly live: readonly KubeObject[];
}

/** Where credentials of proxies come from. */
export type CredentialsSource = (
  input: Omit<CredentialsInput, 'masterKeys'>,
) => Promise<CredentialsFound>;

/**
 * Observes an Exposure in the management cluster. `onDependency` is called before each object is read: an event that
 * arrives after the read must find the Exposure. @throws KubeError
 */
export async function observeExposure(
  object: KubeObject,
  resolved: ResolvedExposure,
  deps: ObserveDeps,
  signal: AbortSignal,
  onDependency: (dependency: Dependency) => void = () => {},
): Promise<Observation> {
  const { management, proxyImage, isGatewayHere, isGatewayAt } = deps;
  const { exposure, edge, conflict } = resolved;
  const secrets: ReadSecret[] = [];
  const dependencies = new Set<Dependency>();
  const depend = (dependency: Dependency) => {
    dependencies.add(dependency);
    onDependency(dependency);
  };
  depend(dependencyOn(RESOURCES.edge, edge.metadata));
  depend(dependencyOn(RESOURCES.namespace, { name: exposure.metadata.namespace }));
  // A class in the object of a provider does the job if no controller handles it.
  const isPrepared = exposure.spec.controlPlane.type === 'Object';
  if (isPrepared) depend(dependencyOnNames(RESOURCES.ingressClass));
  const objects = controlPlaneObjects(management, signal);
  const reading = await readControlPlane(exposure, recorded(objects, secrets, depend));
  const context = edgeContext(deps, edge);
  const gateway = edgeService(deps, edge);
  if (gateway !== undefined) depend(dependencyOn(RESOURCES.service, gateway));
  const { ingress } = reading.controlPlane ?? {};
  const provided =
    ingress?.className === undefined || ingress.className !== edge.spec.ingress?.className
      ? undefined
      : ingressOf(management, ingress.hosts.api, {
          name: ingress.name,
          namespace: exposure.metadata.namespace,
        });
  // Another Ingress has the addresses of another controller.
  const isRoute =
    ingress !== undefined &&
    provided !== undefined &&
    isCurrentRouteOf(edge, provided, ingress.hosts, management.served);
  const live = [...management.ownedBy(object), ...(isRoute ? [provided] : [])];
  const facts = {
    controlPlane: reading.controlPlane,
    conflict,
    served: management.served,
    edgeAddresses: edgeAddresses(context, live),
    edgeClusterAddresses: edgeClusterAddresses(context),
    currentSlices: [],
    proxyImage,
    isGatewayHere,
    isGatewayAt,
  };
  return { object, resolved, reading, secrets, dependencies, facts };
}

/** The same objects. Every read is recorded. */
function recorded(
  objects: ControlPlaneObjects,
  secrets: ReadSecret[],
  depend: (dependency: Dependency) => void,
): ControlPlaneObjects {
  return {
    service: (key) => {
      depend(dependencyOn(RESOURCES.service, key));
      return objects.service(key);
    },
    object: async (resource, key) => {
      depend(dependencyOn(resource, key));
      return objects.object?.(resource, key);
    },
    secret: async (key) => {
      const found = await objects.secret(key);
      secrets.push({ key, version: found?.metadata.resourceVersion });
      return found;
    },
  };
}

/** Observes the tenant of an Exposure. @throws KubeError, TenantNotInitialized, and what the source of credentials throws */
export async function observeTenant(
  { resolved, reading, facts }: Observation,
  { mode, hosts }: Pick<Plan, 'mode' | 'hosts'>,
  view: TenantView,
  credentialsFor: CredentialsSource,
  clock: Clock,
  signal: AbortSignal,
): Promise<TenantObservation> {
  const { clusterDomain = reading.provided?.clusterDomain } = resolved.exposure.spec.controlPlane;
  // Requests first: a tenant that refuses fails them at once, while its watches keep trying.
  const tenant = await readTenantFacts(view, { clusterDomain, signal });
  const live = await readTenantSide(view, signal);
  const { credentials, ...found } = await credentialsFor({
    mode,
    apiHost: hosts?.api ?? '',
    tenant,
    now: clock.now(),
    ca: reading.controlPlane?.ca,
    secret: live.find(isProxySecret),
  });
  const currentSlices = view.slices.list();
  const [currentProxies] = view.daemonSets.list().map(proxyState);
  const currentConfig = live.find(isProxyConfig);
  const known = { tenant, credentials, currentSlices, currentProxies, currentConfig };
  return { ...found, live, facts: { ...facts, ...known } };
}

function isProxyConfig({ kind, metadata }: KubeObject): boolean {
  return kind === RESOURCES.configMap.kind && metadata.name === PROXY_CONFIG.name;
}

function isProxySecret({ kind, metadata }: KubeObject): boolean {
  return kind === RESOURCES.secret.kind && metadata.name === PROXY.name;
}
