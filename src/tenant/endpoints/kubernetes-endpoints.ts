/**
 * The endpoints of the tenant's Service `default/kubernetes`: the proxies. In a tenant whose API server runs with
 * `--endpoint-reconciler-type=none`, no other controller writes them.
 */
import type { KubeObject } from '../../kube/object.ts';
import type { TenantNode } from '../tenant-facts.ts';
import { MANAGED_BY } from '../../api/labels.ts';
import {
  canonicalAddress,
  endpointAddressFault,
  familyOf,
  type AddressFamily,
} from '../../kube/endpoints/endpoint-address.ts';
import {
  endpointAt,
  isReady,
  MAX_SLICE_ENDPOINTS,
  SERVICE_NAME_LABEL,
  SLICE_MANAGED_BY,
  type Endpoint,
  type EndpointSlice,
} from '../../kube/endpoints/endpoint-slice.ts';
import { pagesOf } from './slice-pages.ts';

/**
 * The Service. The slice and the Endpoints have the same name, so that an API server with an endpoint reconciler takes
 * them over.
 */
export const KUBERNETES = { namespace: 'default', name: 'kubernetes' } as const;

/** The port name of the Service: endpoints match a Service port by name. */
const PORT_NAME = 'https';

/** The input of {@link kubernetesEndpoints}. */
export interface KubernetesEndpointsInput {
  /** The addresses of the Service, the primary family first. The slices have the same families. */
  readonly serviceAddresses: readonly string[];
  /**
   * Where the proxies listen: at virtual addresses that every node carries, one of each family, or at the addresses of
   * the nodes.
   */
  readonly listeners:
    | { readonly at: 'virtual'; readonly addresses: readonly string[] }
    | { readonly at: 'node'; readonly nodes: readonly TenantNode[] };
  readonly port: number;
  /** The current slices of the Service. */
  readonly currentSlices: readonly EndpointSlice[];
}

/**
 * Returns the EndpointSlices, and the Endpoints for older clients and k0s.
 *
 * If no node has an address, the current endpoints stay: a non-empty list is never replaced by an empty one. Without
 * current endpoints, none are created.
 */
export function kubernetesEndpoints(input: KubernetesEndpointsInput): readonly KubeObject[] {
  const families = [
    ...new Set(input.serviceAddresses.flatMap((address) => familyOf(address) ?? [])),
  ];
  const slices = families.flatMap((family, index) => slicesOf(input, family, index === 0));
  const primary = slices.filter(({ addressType }) => addressType === families[0]);
  return primary.length === 0 ? slices : [...slices, legacyEndpoints(primary, input.port)];
}

function slicesOf(
  input: KubernetesEndpointsInput,
  family: AddressFamily,
  isPrimary: boolean,
): readonly EndpointSlice[] {
  const current = currentPages(input.currentSlices, family, isPrimary);
  const desired = endpointsOf(input, family, current);
  const pages = desired.some((page) => page.length > 0) ? desired : current;
  return pages.flatMap((endpoints, index) =>
    endpoints.length === 0
      ? []
      : [slice(sliceName(family, isPrimary, index), family, input.port, endpoints)],
  );
}

function endpointsOf(
  { listeners, serviceAddresses }: KubernetesEndpointsInput,
  family: AddressFamily,
  current: readonly (readonly Endpoint[])[],
): readonly (readonly Endpoint[])[] {
  const isUsable = (address: string): boolean =>
    isEndpointAddress(address, serviceAddresses) && familyOf(address) === family;
  if (listeners.at === 'virtual') {
    return [listeners.addresses.filter(isUsable).map((ip) => endpointAt(canonicalAddress(ip)))];
  }
  const found = listeners.nodes.flatMap(({ name, addresses, ready }) => {
    const address = addresses.find(isUsable);
    return address === undefined ? [] : [{ name, address, ready }];
  });
  // If no proxy is known to be ready, readiness carries no information. All endpoints then count as ready.
  const anyReady = found.some(({ ready }) => ready);
  const byName = new Map(
    found.map(({ name, address, ready }) => [name, atNode(address, name, ready || !anyReady)]),
  );
  const before = current.map((page) => page.flatMap(({ nodeName }) => nodeName ?? []));
  return pagesOf([...byName.keys()], before, MAX_SLICE_ENDPOINTS).map((page) =>
    page.flatMap((name) => byName.get(name) ?? []),
  );
}

/** kube-proxy since 1.34 prefers the endpoint of its own node while it is ready. Older versions use any endpoint. */
function atNode(address: string, nodeName: string, ready: boolean): Endpoint {
  return {
    ...endpointAt(canonicalAddress(address), ready),
    nodeName,
    hints: { forNodes: [{ name: nodeName }] },
  };
}

/**
 * Reports whether the API server accepts the address and kube-proxy can route to it. kube-proxy does not route to the
 * address of a Service.
 */
export function isEndpointAddress(address: string, serviceAddresses: readonly string[]): boolean {
  if (endpointAddressFault(address) !== undefined) return false;
  const canonical = canonicalAddress(address);
  return !serviceAddresses.some((clusterIp) => canonicalAddress(clusterIp) === canonical);
}

/** The first slice of the primary family is `kubernetes`. The names of other slices contain their family or page. */
function sliceName(family: AddressFamily, isPrimary: boolean, index: number): string {
  if (isPrimary && index === 0) return KUBERNETES.name;
  const page = index === 0 ? [] : [String(index + 1)];
  const parts = isPrimary ? page : [family.toLowerCase(), ...page];
  return [KUBERNETES.name, 'snicket', ...parts].join('-');
}

/**
 * Returns the endpoints of Snicket's slices, by page. Ignores a slice of the same name that the endpoint reconciler of
 * the API server has written.
 */
function currentPages(
  slices: readonly EndpointSlice[],
  family: AddressFamily,
  isPrimary: boolean,
): readonly (readonly Endpoint[])[] {
  const pages: (readonly Endpoint[])[] = [];
  for (const { metadata, addressType, endpoints } of slices) {
    const index = pageIndex(metadata.name, family, isPrimary);
    if (index !== undefined && addressType === family && isManaged(metadata.labels)) {
      pages[index] = (endpoints ?? []).flatMap(normalized);
    }
  }
  return Array.from(pages, (page) => page ?? []);
}

/** Returns the endpoint with only the fields that Snicket writes. Empty if it has no address. */
function normalized(endpoint: Endpoint): readonly Endpoint[] {
  const { addresses, nodeName } = endpoint;
  const [address] = addresses;
  if (address === undefined) return [];
  const ready = isReady(endpoint);
  return [nodeName === undefined ? endpointAt(address, ready) : atNode(address, nodeName, ready)];
}

function pageIndex(name: string, family: AddressFamily, isPrimary: boolean): number | undefined {
  if (name === sliceName(family, isPrimary, 0)) return 0;
  const index = Number(/-([1-9]\d{0,3})$/.exec(name)?.[1] ?? 0) - 1;
  return index > 0 && name === sliceName(family, isPrimary, index) ? index : undefined;
}

function isManaged(labels: Readonly<Record<string, string>> = {}): boolean {
  return Object.entries(SLICE_MANAGED_BY).every(([key, value]) => labels[key] === value);
}

function slice(
  name: string,
  family: AddressFamily,
  port: number,
  endpoints: readonly Endpoint[],
): EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      namespace: KUBERNETES.namespace,
      name,
      labels: { ...MANAGED_BY, ...SLICE_MANAGED_BY, [SERVICE_NAME_LABEL]: KUBERNETES.name },
    },
    addressType: family,
    ports: [{ name: PORT_NAME, port, protocol: 'TCP' }],
    endpoints,
  };
}

/**
 * Returns the Endpoints. The label `skip-mirror` keeps kube-controller-manager from mirroring them into a slice without
 * hints.
 */
function legacyEndpoints(slices: readonly EndpointSlice[], port: number): KubeObject {
  const endpoints = slices.flatMap((page) => page.endpoints ?? []).slice(0, MAX_SLICE_ENDPOINTS);
  const addressesOf = (ready: boolean): readonly { readonly ip: string }[] =>
    endpoints
      .filter((endpoint) => isReady(endpoint) === ready)
      .flatMap(({ addresses }) => addresses.map((ip) => ({ ip })));
  const [addresses, notReadyAddresses] = [addressesOf(true), addressesOf(false)];
  const subset = {
    ...(addresses.length > 0 && { addresses }),
    ...(notReadyAddresses.length > 0 && { notReadyAddresses }),
    ports: [{ name: PORT_NAME, port, protocol: 'TCP' }],
  };
  const labels = { ...MANAGED_BY, 'endpointslice.kubernetes.io/skip-mirror': 'true' };
  const endpointsObject = {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { ...KUBERNETES, labels },
    subsets: [subset],
  };
  return endpointsObject;
}
