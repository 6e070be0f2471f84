/**
 * The EndpointSlice `default/kubernetes`, which the proxies of all nodes write together: each looks after its own entry,
 * and takes out those of proxies that are gone. A writer that was too late is told so by the version, and looks again; so
 * they agree on one list. One slice and not one for each node: the role that Steward grants lets nobody delete a slice,
 * and steward-tcp-proxy, if it comes back, rewrites this one and no other.
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

/** As managedFields name us: the same on every node. */
export const FIELD_MANAGER = 'snicket-tcp-proxy';

const MANAGED_BY_LABEL = 'endpointslice.kubernetes.io/managed-by';
const LABELS = {
  [SERVICE_NAME_LABEL]: KUBERNETES.name,
  [MANAGED_BY_LABEL]: 'tcp-proxy.snicket.dev',
} as const;

/** Where this proxy is. */
export interface Place {
  /** As RFC 5952 writes it. */
  readonly address: string;
  readonly port: number;
}

/** What is to be done with the slice. */
export type SliceStep =
  | { readonly kind: 'create' | 'replace'; readonly slice: EndpointSlice }
  /** Nothing: it is as it should be. */
  | { readonly kind: 'keep' }
  /** Nothing may be done: why, and what to do about it. */
  | { readonly kind: 'blocked'; readonly code: BlockCode; readonly sentence: string };

/**
 * - `HeldByOperator`: Snicket's operator looks after the slice
 * - `OtherFamily`: it is for addresses of the other family
 * - `OtherPort`: living proxies listen on another port
 * - `LastEntry`: nobody else is in the slice
 */
export type BlockCode = 'HeldByOperator' | 'OtherFamily' | 'OtherPort' | 'LastEntry';

/** The slice with us in it, and without the entries of those who are not alive. */
export function joined(
  found: EndpointSlice | undefined,
  place: Place,
  isAlive: (address: string) => boolean,
): SliceStep {
  const own = endpointAt(place.address);
  if (found === undefined) return { kind: 'create', slice: freshSlice(place, own) };
  const family = familyOf(place.address);
  if (isOperators(found)) return HELD_BY_OPERATOR;
  if (found.addressType !== family) return otherFamily(found, place);
  const entries = found.endpoints ?? [];
  const others = entries.filter((one) => !isAt(one, place.address) && isAlive(addressOf(one)));
  const [port] = found.ports ?? [];
  if (others.length > 0 && hasOurLabel(found) && port?.port !== place.port) {
    return otherPort(port?.port, place, others);
  }
  const at = entries.findIndex((one) => isAt(one, place.address));
  const before = others.filter((one) => at < 0 || entries.indexOf(one) < at);
  const endpoints = [...before, own, ...others.filter((one) => !before.includes(one))];
  return replacing(found, endpoints, portsOf(place));
}

/** The slice without us and the dead; the last one stays, for a list that was full is never emptied. */
export function left(
  found: EndpointSlice | undefined,
  place: Place,
  isAlive: (address: string) => boolean,
): SliceStep {
  const entries = found?.endpoints ?? [];
  if (found === undefined || !entries.some((one) => isAt(one, place.address)))
    return { kind: 'keep' };
  if (isOperators(found)) return HELD_BY_OPERATOR;
  const others = entries.filter((one) => !isAt(one, place.address) && isAlive(addressOf(one)));
  if (others.length === 0) return lastEntry(place);
  return replacing(found, others, found.ports);
}

/** The addresses of a slice. */
export function addressesIn(slice: EndpointSlice | undefined): readonly string[] {
  return (slice?.endpoints ?? []).map(addressOf);
}

/** Who wrote the endpoints, if that was none of the proxies. The list is atomic: it has one owner, the last writer. */
export function otherWriter({ metadata }: EndpointSlice): string | undefined {
  const owners = (metadata.managedFields ?? []).filter(
    ({ fieldsV1 }) => fieldsV1 !== undefined && 'f:endpoints' in fieldsV1,
  );
  const other = owners.find(({ manager }) => manager !== FIELD_MANAGER);
  return other === undefined ? undefined : (other.manager ?? 'a manager without a name');
}

const HELD_BY_OPERATOR: SliceStep = {
  kind: 'blocked',
  code: 'HeldByOperator',
  sentence:
    "Snicket's operator looks after the slice default/kubernetes, so it is left alone; take addons.tcpProxy out of the TenantControlPlane, it is not needed any more",
};

function otherFamily({ addressType }: EndpointSlice, { address }: Place): SliceStep {
  return {
    kind: 'blocked',
    code: 'OtherFamily',
    sentence: `the slice default/kubernetes is for ${addressType} and this node has ${address}; that cannot be changed, so delete the slice, and it is made anew`,
  };
}

function otherPort(port: number | undefined, place: Place, others: readonly Endpoint[]): SliceStep {
  return {
    kind: 'blocked',
    code: 'OtherPort',
    sentence: `the proxies at ${others.map(addressOf).join(', ')} listen on port ${port ?? 'unknown'} and this one on ${place.port}, but a slice has one port for all; give all the same --listen-addr`,
  };
}

function lastEntry({ address }: Place): SliceStep {
  return {
    kind: 'blocked',
    code: 'LastEntry',
    sentence: `${address} stays in the slice default/kubernetes: no other proxy is alive in it, and without any entry pods would be refused until the next one has joined`,
  };
}

function freshSlice(place: Place, own: Endpoint): EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { ...KUBERNETES, labels: LABELS },
    addressType: familyOf(place.address) ?? 'IPv4',
    ports: portsOf(place),
    endpoints: [own],
  };
}

function replacing(
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

/** The name is that of the Service's port: only ports of the same name are joined. */
function portsOf({ port }: Place): readonly EndpointPort[] {
  return [{ name: 'https', port, protocol: 'TCP' }];
}

function isOperators({ metadata }: EndpointSlice): boolean {
  return metadata.labels?.[MANAGED_BY_LABEL] === SLICE_MANAGED_BY[MANAGED_BY_LABEL];
}

function hasOurLabel({ metadata }: EndpointSlice): boolean {
  return Object.entries(LABELS).every(([key, value]) => metadata.labels?.[key] === value);
}

/** A slice may hold more than one address in an entry; kube-proxy and we look at the first. */
function addressOf({ addresses }: Endpoint): string {
  return canonicalAddress(addresses[0] ?? '');
}

function isAt(endpoint: Endpoint, address: string): boolean {
  return addressOf(endpoint) === address;
}
