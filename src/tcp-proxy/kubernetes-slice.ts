/**
 * The EndpointSlice `default/kubernetes`, which the proxies of all nodes write together. Each proxy maintains its own
 * entry and removes the entries of proxies that are gone. A conflicting write fails on the resource version, and the
 * proxy reads the slice again, so that all proxies agree on one list.
 *
 * There is one slice for all nodes, not one per node, for two reasons. The role that Steward grants does not allow
 * deleting slices. And steward-tcp-proxy, if it is installed again, rewrites this slice and no other.
 */
import type { ObjectMeta } from '../kube/object.ts';
import {
  endpointAt,
  SERVICE_NAME_LABEL,
  SLICE_MANAGED_BY,
  type Endpoint,
  type EndpointPort,
  type EndpointSlice,
} from '../kube/endpoints/endpoint-slice.ts';
import { canonicalAddress, familyOf } from '../kube/endpoints/endpoint-address.ts';

/** The Service `kubernetes` and its slice. */
export const KUBERNETES = { namespace: 'default', name: 'kubernetes' } as const;

/** The field manager of the proxies, the same on every node. */
export const FIELD_MANAGER = 'snicket-tcp-proxy';

const MANAGED_BY_LABEL = 'endpointslice.kubernetes.io/managed-by';
const LABELS = {
  [SERVICE_NAME_LABEL]: KUBERNETES.name,
  [MANAGED_BY_LABEL]: 'tcp-proxy.snicket.dev',
} as const;

/** Address and port of this proxy. */
export interface ProxyEndpoint {
  /** In the canonical form of RFC 5952. */
  readonly address: string;
  readonly port: number;
}

/** The next change of the slice. */
export type SliceStep =
  | { readonly kind: 'create' | 'replace'; readonly slice: EndpointSlice }
  /** The slice is as desired. */
  | { readonly kind: 'keep' }
  /** The slice must not be changed: the reason, and what the user can do. */
  | { readonly kind: 'blocked'; readonly code: BlockCode; readonly message: string };

/**
 * - `ManagedByOperator`: Snicket's operator manages the slice
 * - `OtherFamily`: the slice has addresses of the other IP family
 * - `OtherPort`: the other live proxies listen on another port
 * - `LastEntry`: the slice has no other entry
 */
type BlockCode = 'ManagedByOperator' | 'OtherFamily' | 'OtherPort' | 'LastEntry';

/** Returns the change that adds this proxy and removes the entries of dead proxies. */
export function planJoin(
  found: EndpointSlice | undefined,
  endpoint: ProxyEndpoint,
  isAlive: (address: string) => boolean,
): SliceStep {
  const ownEntry = endpointAt(endpoint.address);
  if (found === undefined) return { kind: 'create', slice: newSlice(endpoint, ownEntry) };
  const family = familyOf(endpoint.address);
  if (isManagedByOperator(found)) return MANAGED_BY_OPERATOR;
  if (found.addressType !== family) return otherFamily(found, endpoint);
  const entries = found.endpoints ?? [];
  const others = entries.filter(
    (entry) => !hasAddress(entry, endpoint.address) && isAlive(addressOf(entry)),
  );
  const [port] = found.ports ?? [];
  if (others.length > 0 && hasOurLabel(found) && port?.port !== endpoint.port) {
    return otherPort(port?.port, endpoint, others);
  }
  const at = entries.findIndex((entry) => hasAddress(entry, endpoint.address));
  const before = others.filter((entry) => at < 0 || entries.indexOf(entry) < at);
  const endpoints = [...before, ownEntry, ...others.filter((entry) => !before.includes(entry))];
  return planReplace(found, endpoints, portsOf(endpoint));
}

/**
 * Returns the change that removes this proxy and dead proxies. The last entry stays, so that the slice is never
 * emptied.
 */
export function planLeave(
  found: EndpointSlice | undefined,
  endpoint: ProxyEndpoint,
  isAlive: (address: string) => boolean,
): SliceStep {
  const entries = found?.endpoints ?? [];
  if (found === undefined || !entries.some((entry) => hasAddress(entry, endpoint.address)))
    return { kind: 'keep' };
  if (isManagedByOperator(found)) return MANAGED_BY_OPERATOR;
  const others = entries.filter(
    (entry) => !hasAddress(entry, endpoint.address) && isAlive(addressOf(entry)),
  );
  if (others.length === 0) return lastEntry(endpoint);
  return planReplace(found, others, found.ports);
}

/** Returns the addresses of a slice. */
export function addressesIn(slice: EndpointSlice | undefined): readonly string[] {
  return (slice?.endpoints ?? []).map(addressOf);
}

/**
 * Returns the field manager of the endpoints if it is not one of the proxies. The list is atomic, so its owner is the
 * last writer.
 */
export function otherWriter({ metadata }: EndpointSlice): string | undefined {
  const owners = (metadata.managedFields ?? []).filter(
    ({ fieldsV1 }) => fieldsV1 !== undefined && 'f:endpoints' in fieldsV1,
  );
  const other = owners.find(({ manager }) => manager !== FIELD_MANAGER);
  return other === undefined ? undefined : (other.manager ?? 'a manager without a name');
}

const MANAGED_BY_OPERATOR: SliceStep = {
  kind: 'blocked',
  code: 'ManagedByOperator',
  message:
    "Snicket's operator manages EndpointSlice default/kubernetes, so this proxy does not change it; remove addons.tcpProxy from the TenantControlPlane",
};

function otherFamily({ addressType }: EndpointSlice, { address }: ProxyEndpoint): SliceStep {
  return {
    kind: 'blocked',
    code: 'OtherFamily',
    message: `EndpointSlice default/kubernetes has the immutable address type ${addressType}, but the address of this node is ${address}; delete the slice, and the proxies create it again`,
  };
}

function otherPort(
  port: number | undefined,
  endpoint: ProxyEndpoint,
  others: readonly Endpoint[],
): SliceStep {
  return {
    kind: 'blocked',
    code: 'OtherPort',
    message: `the proxies at ${others.map(addressOf).join(', ')} listen on port ${port ?? 'unknown'} and this one on ${endpoint.port}, but an EndpointSlice has one port; use the same --listen-addr for all`,
  };
}

function lastEntry({ address }: ProxyEndpoint): SliceStep {
  return {
    kind: 'blocked',
    code: 'LastEntry',
    message: `${address} stays in EndpointSlice default/kubernetes, because no other proxy is alive; without an endpoint, pods could not connect until the next proxy joins`,
  };
}

function newSlice(endpoint: ProxyEndpoint, ownEntry: Endpoint): EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { ...KUBERNETES, labels: LABELS },
    addressType: familyOf(endpoint.address) ?? 'IPv4',
    ports: portsOf(endpoint),
    endpoints: [ownEntry],
  };
}

function planReplace(
  found: EndpointSlice,
  endpoints: readonly Endpoint[],
  ports: readonly EndpointPort[],
): SliceStep {
  const metadata: ObjectMeta = {
    ...found.metadata,
    labels: { ...found.metadata.labels, ...LABELS },
  };
  const slice = { ...found, metadata, endpoints, ports };
  const isSame =
    hasOurLabel(found) &&
    Bun.deepEquals(found.endpoints, endpoints) &&
    Bun.deepEquals(found.ports, ports);
  return isSame ? { kind: 'keep' } : { kind: 'replace', slice };
}

/** The name must match the port of the Service `kubernetes`. */
function portsOf({ port }: ProxyEndpoint): readonly EndpointPort[] {
  return [{ name: 'https', port, protocol: 'TCP' }];
}

function isManagedByOperator({ metadata }: EndpointSlice): boolean {
  return metadata.labels?.[MANAGED_BY_LABEL] === SLICE_MANAGED_BY[MANAGED_BY_LABEL];
}

function hasOurLabel({ metadata }: EndpointSlice): boolean {
  return Object.entries(LABELS).every(([key, value]) => metadata.labels?.[key] === value);
}

/** An entry can have several addresses. kube-proxy uses the first, and so does Snicket. */
function addressOf({ addresses }: Endpoint): string {
  return canonicalAddress(addresses[0] ?? '');
}

function hasAddress(endpoint: Endpoint, address: string): boolean {
  return addressOf(endpoint) === address;
}
