/**
 * All objects in a tenant. They have no owner references: their owner is in another cluster.
 */
import type { ExposureSpec } from '../api/exposure.ts';
import type { WorkerMode, WorkerSpec } from '../api/worker.ts';
import type { KubeObject } from '../kube/object.ts';
import type { ProxyCredentials, TenantFacts } from './tenant-facts.ts';
import type { Finding } from '../api/finding.ts';
import { VERSIONED_FEATURES } from '../api/versions.ts';
import { canonicalAddress, familyOf } from '../kube/endpoints/endpoint-address.ts';
import type { EndpointSlice } from '../kube/endpoints/endpoint-slice.ts';
import { injectionPolicy, supportsInjection } from './injection.ts';
import { isEndpointAddress, kubernetesEndpoints } from './endpoints/kubernetes-endpoints.ts';
import { proxyAccount, proxyConfig, proxySecret } from './proxy-credentials.ts';
import { proxyAddresses, type ProxyState } from './proxy-addresses.ts';
import { cleanupDaemonSet, proxyDaemonSet } from './proxy-pods.ts';
import { releaseAnnotations } from './release.ts';

/** The input of {@link tenantObjects}. */
export interface TenantInput {
  readonly worker: WorkerSpec;
  readonly mode: WorkerMode;
  /** The image of the proxy, unless `worker` names one. */
  readonly image: string;
  /** The API host of the tenant, and the port of the edge. */
  readonly host: string;
  readonly port: number;
  /** The addresses of the host. If empty, DNS resolves it. */
  readonly edgeAddresses: readonly string[];
  /** Whether the controller of the Edge reports these addresses. Default: the spec of the Edge has them. */
  readonly areAddressesReported?: boolean | undefined;
  /** The current ConfigMap of the proxies. */
  readonly currentConfig?: KubeObject | undefined;
  /** The name and the driver of the Edge. */
  readonly edge: string;
  /** The ingress class or the Gateways of the Edge, whose addresses are reported. Default: the Edge names none. */
  readonly addressSource?: string | undefined;
  /** The fields of the Exposure that determine its path. */
  readonly exposure: Pick<ExposureSpec, 'edgeRef' | 'hosts'>;
  readonly tenant: TenantFacts;
  /** The CA of the tenant, as PEM. */
  readonly authority: string;
  /** The credentials for the mode. */
  readonly credentials: ProxyCredentials;
  /** The current slices of Service default/kubernetes. */
  readonly currentSlices: readonly EndpointSlice[];
  /** The current proxies. */
  readonly currentProxies?: ProxyState | undefined;
}

/**
 * Returns the objects in the order in which to apply them. Endpoints come first: k0s lets no worker join before they
 * exist.
 */
export function tenantObjects(input: TenantInput): readonly KubeObject[] {
  const { worker, host, port, tenant, currentSlices, currentProxies } = input;
  const isInjected = worker.directInjection && supportsInjection(tenant.version);
  const { listeners, ...addresses } = proxyAddresses({
    worker,
    tenant,
    currentSlices,
    currentProxies,
    virtualAddresses: virtualAddressesOf(input),
  });
  return [
    ...kubernetesEndpoints({
      serviceAddresses: tenant.serviceAddresses,
      listeners,
      port: worker.port,
      currentSlices,
    }),
    proxyAccount(),
    proxyConfig(input),
    proxySecret(input.credentials),
    withAnnotations(
      proxyDaemonSet({ ...input, ...addresses, image: imageOf(input) }),
      releaseAnnotations({ ...input, defaultImage: input.image }, proxyDaemonSet),
    ),
    ...(isInjected ? injectionPolicy(host, port) : []),
  ];
}

/**
 * Returns the objects that replace the proxies before all objects are deleted, so that no node keeps a virtual address.
 * Their rollout must complete on every node first. Empty if nodes have no virtual addresses.
 */
export function cleanupObjects(
  input: Pick<TenantInput, 'worker' | 'image' | 'tenant' | 'currentProxies'>,
): readonly KubeObject[] {
  const { worker, currentProxies } = input;
  const present = [
    ...(currentProxies?.virtualAddresses ?? []),
    ...(currentProxies?.previousAddresses ?? []),
  ];
  const virtualAddresses = [...new Set([...virtualAddressesOf(input), ...present])];
  if (virtualAddresses.length === 0) return [];
  return [proxyAccount(), cleanupDaemonSet({ worker, image: imageOf(input), virtualAddresses })];
}

/**
 * Returns the findings about the worker spec that depend on facts about the tenant. With an error, no objects must be
 * created.
 */
export function tenantFindings({
  worker,
  tenant,
}: Pick<TenantInput, 'worker' | 'tenant'>): readonly Finding[] {
  return [addressFault(worker, tenant), injectionFault(worker, tenant)].flatMap(
    (finding) => finding ?? [],
  );
}

function addressFault(worker: WorkerSpec, tenant: TenantFacts): Finding | undefined {
  const [primary] = tenant.serviceAddresses;
  if (primary === undefined) {
    return {
      code: 'TenantNotInitialized',
      severity: 'error',
      message: 'Service default/kubernetes of the tenant has no address.',
      action:
        "Wait for the tenant's API server, which creates the Service, or delete the Service if it is headless.",
    };
  }
  const family = familyOf(primary);
  const isUsable = (address: string): boolean => familyOf(address) === family;
  if (worker.address === 'Node' || virtualAddressesOf({ worker, tenant }).some(isUsable)) {
    return undefined;
  }
  return {
    code: 'FieldInvalid',
    severity: 'error',
    message: `Service default/kubernetes of the tenant has the addresses ${tenant.serviceAddresses.join(', ')}, but worker.virtualAddresses (${worker.virtualAddresses.join(', ')}) has no other ${family} address for its endpoints.`,
    action: `Add an ${family} address that is not used elsewhere in the tenant to worker.virtualAddresses.`,
  };
}

function injectionFault(worker: WorkerSpec, { version }: TenantFacts): Finding | undefined {
  if (!worker.directInjection || supportsInjection(version)) return undefined;
  const { product, feature, since } = VERSIONED_FEATURES.mutatingAdmissionPolicy;
  return {
    code: 'OptionNotSupported',
    severity: 'warning',
    message: `Option worker.directInjection requires ${feature}, which ${product} has since v${since[0]}, but the tenant runs ${version}. Pods use the proxy instead.`,
    action: 'Upgrade the tenant, or remove worker.directInjection.',
  };
}

function withAnnotations(
  object: KubeObject,
  annotations: Readonly<Record<string, string>>,
): KubeObject {
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function imageOf({ worker, image }: Pick<TenantInput, 'worker' | 'image'>): string {
  return worker.image ?? image;
}

/**
 * Returns the usable virtual addresses of the families of the Service. Addresses of other families would have no
 * endpoints, and a node may lack IPv6.
 */
function virtualAddressesOf({
  worker,
  tenant: { serviceAddresses },
}: Pick<TenantInput, 'worker' | 'tenant'>): readonly string[] {
  if (worker.address === 'Node') return [];
  const families = new Set(serviceAddresses.map(familyOf));
  return worker.virtualAddresses
    .filter((at) => families.has(familyOf(at)) && isEndpointAddress(at, serviceAddresses))
    .map(canonicalAddress);
}
