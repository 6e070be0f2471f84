/**
 * The addresses at which the proxies listen, including during a change of these addresses.
 *
 * An address must stay while endpoints contain it, and endpoints must not contain an address before every node has it.
 * A change therefore takes two rollouts. With the first one, nodes carry the old and the new addresses, and the proxies
 * listen at both. When it is complete, the endpoints change. The second rollout removes the old addresses. The current
 * addresses of the nodes are read from the live DaemonSet, so the spec can change again at any time.
 */
import type { WorkerSpec } from '../api/worker.ts';
import type { TenantFacts } from './tenant-facts.ts';
import { canonicalAddress } from '../kube/endpoints/endpoint-address.ts';
import { SLICE_MANAGED_BY, type EndpointSlice } from '../kube/endpoints/endpoint-slice.ts';
import { hasLabels } from '../kube/label-selector.ts';
import type { KubernetesEndpointsInput } from './endpoints/kubernetes-endpoints.ts';
import type { Container, DaemonSet } from './pod.ts';

/** The addresses of the current proxies. */
export interface ProxyState {
  /** The virtual addresses that the DaemonSet adds to nodes. */
  readonly virtualAddresses: readonly string[];
  /** The virtual addresses that the DaemonSet removes from nodes. */
  readonly previousAddresses: readonly string[];
  /** Whether the proxies listen at every address of the node, or only at the virtual ones. */
  readonly listenEverywhere: boolean;
  /** Whether the rollout of the DaemonSet is complete. */
  readonly isRolledOut: boolean;
}

/** The addresses in a plan. */
export interface ProxyAddresses extends Omit<ProxyState, 'isRolledOut'> {
  readonly listeners: KubernetesEndpointsInput['listeners'];
}

/** A DaemonSet with its status. */
export interface DaemonSetWithStatus extends DaemonSet {
  readonly status?: {
    readonly observedGeneration?: number;
    readonly desiredNumberScheduled?: number;
    readonly numberReady?: number;
    readonly updatedNumberScheduled?: number;
  };
}

/** Returns the addresses in a DaemonSet of Snicket. */
export function proxyState(daemonSet: DaemonSetWithStatus): ProxyState {
  const { initContainers = [], containers } = daemonSet.spec.template.spec;
  const addressesFor = (action: string) =>
    [...initContainers, ...containers].flatMap((container) => addressesIn(container, action));
  return {
    virtualAddresses: addressesFor('add'),
    previousAddresses: addressesFor('remove'),
    listenEverywhere: containers.some((container) =>
      argsOf(container).some((flag) => flag.startsWith('--listen=:')),
    ),
    isRolledOut: isRolledOut(daemonSet),
  };
}

/** The numbers of proxies, as the DaemonSet controller of the tenant reports them. */
export interface ProxyCounts {
  /** Whether the DaemonSet controller has observed the latest template. */
  readonly isObserved: boolean;
  readonly desired: number;
  /** With the latest template. */
  readonly updated: number;
  /** With any template. */
  readonly ready: number;
}

/** Returns the numbers of proxies in the status of a DaemonSet. */
export function proxyCounts({ metadata, status = {} }: DaemonSetWithStatus): ProxyCounts {
  return {
    isObserved: (status.observedGeneration ?? 0) >= (metadata.generation ?? 1),
    desired: status.desiredNumberScheduled ?? 0,
    updated: status.updatedNumberScheduled ?? 0,
    ready: status.numberReady ?? 0,
  };
}

/** Reports whether every node runs a ready pod of the latest revision. */
export function isRolledOut(daemonSet: DaemonSetWithStatus): boolean {
  const { isObserved, desired, updated, ready } = proxyCounts(daemonSet);
  return isObserved && updated >= desired && ready >= desired;
}

/**
 * Reports whether the proxies are moving between two sets of addresses. They then also listen at the previous
 * addresses.
 */
export function isChangingAddresses(
  daemonSet: DaemonSetWithStatus,
  { address, virtualAddresses: desired }: Pick<WorkerSpec, 'address' | 'virtualAddresses'>,
): boolean {
  const { virtualAddresses, listenEverywhere } = proxyState(daemonSet);
  if (address === 'Node') return virtualAddresses.length > 0;
  const known = desired.map(canonicalAddress);
  return listenEverywhere || virtualAddresses.some((address) => !known.includes(address));
}

/** The input of {@link proxyAddresses}. */
interface ProxyAddressesInput {
  readonly worker: Pick<WorkerSpec, 'address'>;
  readonly tenant: Pick<TenantFacts, 'nodes'>;
  /** The virtual addresses of the spec that are usable; none with `address: Node`. */
  readonly virtualAddresses: readonly string[];
  readonly currentSlices: readonly EndpointSlice[];
  readonly currentProxies: ProxyState | undefined;
}

/** Returns the addresses for the next step of the change. */
export function proxyAddresses(input: ProxyAddressesInput): ProxyAddresses {
  const { worker, tenant, virtualAddresses: desired, currentProxies } = input;
  const isNode = worker.address === 'Node';
  const listeners = isNode
    ? ({ at: 'node', nodes: tenant.nodes } as const)
    : ({ at: 'virtual', addresses: desired } as const);
  if (currentProxies === undefined) {
    return {
      virtualAddresses: desired,
      previousAddresses: [],
      listenEverywhere: isNode,
      listeners,
    };
  }
  const inEndpoints = endpointAddresses(input.currentSlices);
  // Another client may keep an init container in the DaemonSet that adds an address which Snicket's own removes.
  const onNodes = new Set([
    ...currentProxies.virtualAddresses,
    ...currentProxies.previousAddresses,
  ]);
  const previous = [...onNodes].filter((address) => !desired.includes(address));
  const stillInEndpoints = previous.filter((address) => inEndpoints.includes(address));
  const virtualAddresses = [...desired, ...stillInEndpoints];
  const isAtNodes = inEndpoints.some((address) => !virtualAddresses.includes(address));
  const movesFromNodes = !isNode && currentProxies.listenEverywhere && isAtNodes;
  return {
    virtualAddresses,
    previousAddresses: previous.filter((address) => !inEndpoints.includes(address)),
    listenEverywhere: isNode || movesFromNodes,
    listeners: hasDesiredAddresses(desired, currentProxies, isNode)
      ? listeners
      : (currentListeners(virtualAddresses, inEndpoints, movesFromNodes) ?? listeners),
  };
}

/** Reports whether every node has the desired addresses, with a proxy that listens there. */
function hasDesiredAddresses(
  desired: readonly string[],
  currentProxies: ProxyState,
  isNode: boolean,
): boolean {
  const hasDesired = desired.every((address) => currentProxies.virtualAddresses.includes(address));
  return currentProxies.isRolledOut && hasDesired && (currentProxies.listenEverywhere || !isNode);
}

/**
 * Returns the current endpoints of the proxies; undefined if there are none, or if another client has changed
 * them.
 */
function currentListeners(
  virtualAddresses: readonly string[],
  inEndpoints: readonly string[],
  movesFromNodes: boolean,
): KubernetesEndpointsInput['listeners'] | undefined {
  const addresses = virtualAddresses.filter((address) => inEndpoints.includes(address));
  if (addresses.length > 0) return { at: 'virtual', addresses };
  // An empty list of nodes keeps the current endpoints of nodes.
  return movesFromNodes ? { at: 'node', nodes: [] } : undefined;
}

function endpointAddresses(slices: readonly EndpointSlice[]): readonly string[] {
  return slices
    .filter((slice) => hasLabels(slice, SLICE_MANAGED_BY))
    .flatMap(({ endpoints }) => endpoints ?? [])
    .flatMap(({ addresses }) => addresses.map(canonicalAddress));
}

/** Returns the addresses in a command line such as `address add 100.64.64.1`. */
function addressesIn(container: Container, action: string): readonly string[] {
  const [command, verb, ...rest] = argsOf(container);
  const isMatch = command === 'address' && verb === action;
  return isMatch ? rest.filter((word) => !word.startsWith('--')) : [];
}

/** Another client may have written the DaemonSet without arguments. */
function argsOf({ args = [] }: { readonly args?: readonly string[] }): readonly string[] {
  return args;
}
