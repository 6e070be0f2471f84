import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  endpointAt,
  SLICE_MANAGED_BY,
  type EndpointSlice,
} from '../kube/endpoints/endpoint-slice.ts';
import {
  isRolledOut,
  proxyState,
  proxyAddresses,
  type DaemonSetWithStatus,
  type ProxyState,
  type ProxyAddresses,
} from './proxy-addresses.ts';

const ADDRESSES = ['100.64.64.1', '100.64.64.2', '100.64.64.3'];
const NODE = '10.0.0.1';

function sliceTo(addresses: readonly string[], labels: object = SLICE_MANAGED_BY): EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    addressType: 'IPv4',
    ports: [],
    metadata: { name: 'kubernetes', namespace: 'default', labels: { ...labels } },
    endpoints: addresses.map((address) => endpointAt(address)),
  };
}

/** Returns the addresses for a spec with these virtual addresses, or with address Node if there are none. */
function addressesFor(
  virtualAddresses: readonly string[],
  inEndpoints: readonly string[],
  currentProxies?: ProxyState,
): ProxyAddresses {
  const address = virtualAddresses.length === 0 ? 'Node' : 'Virtual';
  const nodes = [{ name: 'worker', addresses: [NODE], ready: true }];
  return proxyAddresses({
    worker: { address },
    tenant: { nodes },
    virtualAddresses,
    currentProxies,
    currentSlices: [sliceTo(inEndpoints)],
  });
}

function daemonSet(
  init: readonly string[],
  args: string,
  status: DaemonSetWithStatus['status'] = {},
): DaemonSetWithStatus {
  const containers = [{ name: 'proxy', args: args.split(' ') }];
  const initContainers = init.map((line) => ({ name: 'address', args: line.split(' ') }));
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'p', generation: 2 },
    status,
    spec: { template: { spec: { initContainers, containers } } },
  } as unknown as DaemonSetWithStatus;
}

describe('the current proxies', () => {
  test('show which addresses they add to nodes, remove from nodes, and listen at', () => {
    const init = ['address add 100.64.64.1 fd00::1', 'address remove 100.64.64.2'];

    expect(proxyState(daemonSet(init, 'proxy --listen=100.64.64.1:7443'))).toMatchObject({
      virtualAddresses: ['100.64.64.1', 'fd00::1'],
      previousAddresses: ['100.64.64.2'],
      listenEverywhere: false,
    });
    expect(proxyState(daemonSet([], 'proxy --listen=:7443'))).toMatchObject({
      virtualAddresses: [],
      previousAddresses: [],
      listenEverywhere: true,
    });
    const cleanup = daemonSet([], 'address remove --stay 100.64.64.1 --http=127.1.1.1:7444');
    expect(proxyState(cleanup).previousAddresses).toEqual(['100.64.64.1']);
  });

  test('are complete when all nodes run a ready pod of the latest revision', () => {
    const complete = { observedGeneration: 2, desiredNumberScheduled: 3 };
    const counts = { updatedNumberScheduled: 3, numberReady: 3 };
    const isDone = (status: object) => isRolledOut(daemonSet([], 'proxy', status));

    expect(isDone({ ...complete, ...counts })).toBe(true);
    expect(isDone({ ...complete, ...counts, observedGeneration: 1 })).toBe(false);
    expect(isDone({ ...complete, ...counts, updatedNumberScheduled: 2 })).toBe(false);
    expect(isDone({ ...complete, ...counts, numberReady: 2 })).toBe(false);
    expect(isDone({})).toBe(false);
    expect(isDone({ observedGeneration: 2, desiredNumberScheduled: 0 })).toBe(true);
  });
});

const some = (of: readonly string[]) => fc.subarray([...of]);
const proxies: fc.Arbitrary<ProxyState> = fc
  .record({ present: some(ADDRESSES), removed: some(ADDRESSES) })
  .chain(({ present, removed }) =>
    fc.record({
      virtualAddresses: fc.constant(present),
      previousAddresses: fc.constant(removed.filter((address) => !present.includes(address))),
      listenEverywhere: present.length === 0 ? fc.constant(true) : fc.boolean(),
      isRolledOut: fc.boolean(),
    }),
  );

describe('at any step of a change', () => {
  test('removes no address that endpoints contain, and never both adds and removes an address', () => {
    fc.assert(
      fc.property(
        some(ADDRESSES),
        some([...ADDRESSES, NODE]),
        proxies,
        (desired, inEndpoints, current) => {
          const next = addressesFor(desired, inEndpoints, current);

          const removed = next.previousAddresses;
          expect(removed.filter((address) => inEndpoints.includes(address))).toEqual([]);
          expect(removed.filter((address) => next.virtualAddresses.includes(address))).toEqual([]);
          for (const address of desired) expect(next.virtualAddresses).toContain(address);
        },
      ),
    );
  });

  test('plans an address once, although a DaemonSet with an init container of another client both adds and removes it', () => {
    const [kept = '', removed = ''] = ADDRESSES;
    const step = { virtualAddresses: [kept, removed], previousAddresses: [removed, kept] };
    const current = { ...step, listenEverywhere: true, isRolledOut: true };

    expect(addressesFor([], [NODE], current).previousAddresses).toEqual([kept, removed]);
    expect(addressesFor([], [kept], current).virtualAddresses).toEqual([kept]);
  });

  test('keeps or removes every address that was ever added to a node', () => {
    fc.assert(
      fc.property(
        some(ADDRESSES),
        some([...ADDRESSES, NODE]),
        proxies,
        (desired, inEndpoints, current) => {
          const next = addressesFor(desired, inEndpoints, current);

          const known = [...next.virtualAddresses, ...next.previousAddresses];
          for (const address of [...current.virtualAddresses, ...current.previousAddresses]) {
            expect(known).toContain(address);
          }
        },
      ),
    );
  });

  test('reaches the desired state from any current state', () => {
    fc.assert(
      fc.property(some(ADDRESSES), some(ADDRESSES), (from, desired) => {
        const endpointsOf = ({ listeners }: ProxyAddresses, before: readonly string[]) => {
          if (listeners.at === 'virtual') return listeners.addresses;
          return listeners.nodes.length === 0 ? before : [NODE];
        };
        const first = addressesFor(from, []);
        let current: ProxyState = { ...first, isRolledOut: true };
        let inEndpoints = endpointsOf(first, []);
        for (let round = 0; round < 4; round++) {
          const next = addressesFor(desired, inEndpoints, current);
          // Endpoints only contain addresses that every node has.
          const nextEndpoints = endpointsOf(next, inEndpoints);
          for (const address of nextEndpoints.filter((at) => at !== NODE)) {
            expect(current.virtualAddresses).toContain(address);
          }
          inEndpoints = nextEndpoints;
          current = { ...next, isRolledOut: true };
        }

        expect(inEndpoints).toEqual(desired.length === 0 ? [NODE] : desired);
        expect([...current.virtualAddresses].toSorted()).toEqual([...desired].toSorted());
        expect(current.listenEverywhere).toBe(desired.length === 0);
      }),
    );
  });
});
