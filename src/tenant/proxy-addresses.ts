/**
 * Where the proxies listen, on the way from one set of addresses to another too.
 *
 * No address may go while pods are led to it, and none may be led to before every node has it. So a change takes two
 * rollouts: with the first, nodes carry the old and the new address and the proxies listen at both; when all do, the
 * endpoints change; with the second, the old address goes. What the nodes carry is read from the DaemonSet that is
 * there, so that it does not matter when, or how often, somebody changes their mind.
 */
import type { WorkerSpec } from '../api/worker.ts';
import type { TenantFacts } from './tenant-facts.ts';
import { canonicalAddress } from '../kube/endpoints/endpoint-address.ts';
import { SLICE_MANAGED_BY, type EndpointSlice } from '../kube/endpoints/endpoint-slice.ts';
import type { KubernetesEndpointsInput } from './endpoints/kubernetes-endpoints.ts';
import type { Container, DaemonSet } from './pod.ts';

/** The proxies that are there. */
export interface PlacedProxies {
  /** The virtual addresses that nodes are given. */
  readonly virtualAddresses: readonly string[];
  /** Those that are taken off nodes. */
  readonly formerAddresses: readonly string[];
  /** Whether they listen at every address of the node, and not at the virtual ones alone. */
  readonly listenEverywhere: boolean;
  /** Whether all nodes have them. */
  readonly areRolledOut: boolean;
}

/** What a plan says of addresses. */
export interface ProxyAddresses extends Omit<PlacedProxies, 'areRolledOut'> {
  readonly listeners: KubernetesEndpointsInput['listeners'];
}

/** A DaemonSet, with what the tenant's controllers say of it. */
export interface DaemonSetWithStatus extends DaemonSet {
  readonly status?: {
    readonly observedGeneration?: number;
    readonly desiredNumberScheduled?: number;
    readonly numberReady?: number;
    readonly updatedNumberScheduled?: number;
  };
}

/** What a DaemonSet of ours says of addresses. */
export function placedProxies(daemonSet: DaemonSetWithStatus): PlacedProxies {
  const { initContainers = [], containers } = daemonSet.spec.template.spec;
  const of = (action: string) =>
    [...initContainers, ...containers].flatMap((container) => addressesIn(container, action));
  return {
    virtualAddresses: of('add'),
    formerAddresses: of('remove'),
    listenEverywhere: containers.some((container) =>
      argsOf(container).some((flag) => flag.startsWith('--listen=:')),
    ),
    areRolledOut: isRolledOut(daemonSet),
  };
}

/** Whether every node runs the pod of this very version, ready. */
export function isRolledOut({ metadata, status }: DaemonSetWithStatus): boolean {
  const desired = status?.desiredNumberScheduled ?? 0;
  return (
    (status?.observedGeneration ?? 0) >= (metadata.generation ?? 1) &&
    (status?.updatedNumberScheduled ?? 0) >= desired &&
    (status?.numberReady ?? 0) >= desired
  );
}

/** Whether proxies are between two sets of addresses: they listen where pods were led before, too. */
export function areMoving(
  daemonSet: DaemonSetWithStatus,
  { address, virtualAddresses: wished }: Pick<WorkerSpec, 'address' | 'virtualAddresses'>,
): boolean {
  const { virtualAddresses, listenEverywhere } = placedProxies(daemonSet);
  if (address === 'Node') return virtualAddresses.length > 0;
  const known = wished.map(canonicalAddress);
  return listenEverywhere || virtualAddresses.some((one) => !known.includes(one));
}

/** What {@link proxyAddresses} is made from. */
export interface ProxyAddressesInput {
  readonly worker: Pick<WorkerSpec, 'address'>;
  readonly tenant: Pick<TenantFacts, 'nodes'>;
  /** Those that are wished for; none with `address: Node`. */
  readonly virtualAddresses: readonly string[];
  readonly currentSlices: readonly EndpointSlice[];
  readonly placed: PlacedProxies | undefined;
}

/** The addresses for now. */
export function proxyAddresses(input: ProxyAddressesInput): ProxyAddresses {
  const { worker, tenant, virtualAddresses: wished, placed } = input;
  const isNode = worker.address === 'Node';
  const listeners = isNode
    ? ({ at: 'node', nodes: tenant.nodes } as const)
    : ({ at: 'virtual', addresses: wished } as const);
  if (placed === undefined) {
    return { virtualAddresses: wished, formerAddresses: [], listenEverywhere: isNode, listeners };
  }
  const led = addressesLedTo(input.currentSlices);
  const carried = [...placed.virtualAddresses, ...placed.formerAddresses];
  const former = carried.filter((address) => !wished.includes(address));
  const inUse = former.filter((address) => led.includes(address));
  const virtualAddresses = [...wished, ...inUse];
  const isAtNodes = led.some((address) => !virtualAddresses.includes(address));
  const comesFromNodes = !isNode && placed.listenEverywhere && isAtNodes;
  return {
    virtualAddresses,
    formerAddresses: former.filter((address) => !led.includes(address)),
    listenEverywhere: isNode || comesFromNodes,
    listeners: isEverywhere(wished, placed, isNode)
      ? listeners
      : (asTheyAre(virtualAddresses, led, comesFromNodes) ?? listeners),
  };
}

/** Whether every node has what is wished for, with a proxy that listens there. */
function isEverywhere(wished: readonly string[], placed: PlacedProxies, isNode: boolean): boolean {
  const isThere = wished.every((address) => placed.virtualAddresses.includes(address));
  return placed.areRolledOut && isThere && (placed.listenEverywhere || !isNode);
}

/** Endpoints that lead to proxies now; nothing if there are none, or if somebody tampered with them. */
function asTheyAre(
  virtualAddresses: readonly string[],
  led: readonly string[],
  comesFromNodes: boolean,
): KubernetesEndpointsInput['listeners'] | undefined {
  const addresses = virtualAddresses.filter((address) => led.includes(address));
  if (addresses.length > 0) return { at: 'virtual', addresses };
  // Without nodes, the endpoints that name nodes stay.
  return comesFromNodes ? { at: 'node', nodes: [] } : undefined;
}

function addressesLedTo(slices: readonly EndpointSlice[]): readonly string[] {
  return slices
    .filter(({ metadata: { labels = {} } }) =>
      Object.entries(SLICE_MANAGED_BY).every(([key, value]) => labels[key] === value),
    )
    .flatMap(({ endpoints }) => endpoints ?? [])
    .flatMap(({ addresses }) => addresses.map(canonicalAddress));
}

/** As `address add 100.64.64.1`. */
function addressesIn(container: Container, action: string): readonly string[] {
  const [command, verb, ...rest] = argsOf(container);
  const isThat = command === 'address' && verb === action;
  return isThat ? rest.filter((word) => !word.startsWith('--')) : [];
}

/** Somebody else may have written the DaemonSet. */
function argsOf({ args = [] }: { readonly args?: readonly string[] }): readonly string[] {
  return args;
}
