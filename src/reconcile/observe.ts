/**
 * One look at an Exposure: read what there is, plan, write nothing. The operator looks and then acts; `render`, `diff`
 * and a dry run look and then show.
 */
import { systemClock, type Clock } from '../clock/clock.ts';
import type { KubeObject } from '../kube/object.ts';
import type { ListenAddress } from '../net/listen-address.ts';
import { RESOURCES } from '../kube/resource.ts';
import { planExposure, type Facts, type Plan } from '../plan/plan.ts';
import {
  readControlPlane,
  type ControlPlaneObjects,
  type ControlPlaneReading,
} from '../providers/reading/read-control-plane.ts';
import { placedProxies } from '../tenant/proxy-addresses.ts';
import { PROXY } from '../tenant/proxy-names.ts';
import { edgeAddresses, edgeClusterAddresses } from '../management/edge-state.ts';
import { controlPlaneObjects } from '../management/control-plane-objects.ts';
import type { ResolvedExposure } from '../management/exposure-book.ts';
import type { ManagementPlace } from '../management/management-view.ts';
import type { ReadSecret } from '../operator/management/secret-poller.ts';
import type { CredentialsFound, CredentialsInput } from './tenant/credentials.ts';
import { dependencyOn, type Dependency } from '../management/dependency-index.ts';
import { readTenantFacts } from './tenant/tenant-facts.ts';
import { readTenantSide } from './tenant/tenant-side.ts';
import type { TenantView } from './tenant/link/tenant-view.ts';

/** Where to look, and what cannot be seen there. */
export interface Viewpoint extends ManagementPlace {
  /** The image of the proxy, for Exposures that name none. */
  readonly proxyImage: string;
  /** Whether the gateway is on this machine, and so gets to its loopback addresses. Default: it is in the cluster. */
  readonly isGatewayHere?: boolean | undefined;
  /** Whether it listens there then. Default: that is not known. */
  readonly isGatewayAt?: ((place: ListenAddress) => boolean) | undefined;
}

/** What the management cluster says. */
export interface Observation {
  readonly wish: ResolvedExposure;
  readonly reading: ControlPlaneReading;
  /** The Secrets that were read. They are not watched. */
  readonly secrets: readonly ReadSecret[];
  /** Everything that was read by key, and is watched. */
  readonly dependencies: ReadonlySet<Dependency>;
  readonly facts: Facts;
  /** As far as it goes without the tenant. */
  readonly plan: Plan;
}

/** What the tenant says too. */
export interface TenantObservation extends Omit<CredentialsFound, 'credentials'> {
  /** All of it. */
  readonly plan: Plan;
  /** Everything in the tenant that has a name of ours, ours or not. */
  readonly live: readonly KubeObject[];
}

/** Where credentials of proxies come from. */
export type CredentialsSource = (
  input: Omit<CredentialsInput, 'masterKeys'>,
) => Promise<CredentialsFound>;

/**
 * Looks at the management side of an Exposure. `onDependency` is called before each object is read: an event that arrives
 * after the read must find the Exposure. @throws KubeError
 */
export async function observeExposure(
  object: KubeObject,
  wish: ResolvedExposure,
  viewpoint: Viewpoint,
  signal: AbortSignal,
  onDependency: (dependency: Dependency) => void = () => {},
): Promise<Observation> {
  const { management, proxyImage, isGatewayHere, isGatewayAt } = viewpoint;
  const { exposure, edge, conflict } = wish;
  const secrets: ReadSecret[] = [];
  const dependencies = new Set<Dependency>();
  const depend = (dependency: Dependency) => {
    dependencies.add(dependency);
    onDependency(dependency);
  };
  depend(dependencyOn(RESOURCES.edge, edge.metadata));
  depend(dependencyOn(RESOURCES.namespace, { name: exposure.metadata.namespace }));
  const objects = controlPlaneObjects(management, signal);
  const reading = await readControlPlane(exposure, recorded(objects, secrets, depend));
  const facts = {
    ...{ controlPlane: reading.controlPlane, conflict, served: management.served },
    edgeAddresses: edgeAddresses(viewpoint, edge, management.ownedBy(object)),
    edgeClusterAddresses: edgeClusterAddresses(viewpoint, edge),
    currentSlices: [],
    ...{ proxyImage, isGatewayHere, isGatewayAt },
  };
  return { wish, reading, secrets, dependencies, facts, plan: planExposure(wish, facts) };
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

/** Looks at its tenant too. @throws KubeError, TenantNotInitialised, and what the source of credentials throws */
export async function observeTenant(
  { wish, reading, facts, plan: { mode, hosts } }: Observation,
  view: TenantView,
  credentialsFor: CredentialsSource,
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<TenantObservation> {
  const { clusterDomain = reading.provided?.clusterDomain } = wish.exposure.spec.controlPlane;
  // First the questions: a tenant that refuses fails them at once, while its watches keep on trying.
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
  const [placed] = view.daemonSets.list().map(placedProxies);
  const plan = planExposure(wish, { ...facts, tenant, credentials, currentSlices, placed });
  return { ...found, plan, live };
}

function isProxySecret({ kind, metadata }: KubeObject): boolean {
  return kind === RESOURCES.secret.kind && metadata.name === PROXY.name;
}
