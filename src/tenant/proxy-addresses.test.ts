import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  endpointAt,
  SLICE_MANAGED_BY,
  type EndpointSlice,
} from '../kube/endpoints/endpoint-slice.ts';
import {
  isRolledOut,
  placedProxies,
  proxyAddresses,
  type DaemonSetWithStatus,
  type PlacedProxies,
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
  led: readonly string[],
  placed?: PlacedProxies,
): ProxyAddresses {
  const address = virtualAddresses.length === 0 ? 'Node' : 'Virtual';
  const nodes = [{ name: 'worker', addresses: [NODE], ready: true }];
  return proxyAddresses({
    worker: { address },
    tenant: { nodes },
    virtualAddresses,
    placed,
    currentSlices: [sliceTo(led)],
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

describe('the proxies that are there', () => {
  test('say which addresses they put on nodes, take off them, and listen at', () => {
    const init = ['address add 100.64.64.1 fd00::1', 'address remove 100.64.64.2'];

    expect(placedProxies(daemonSet(init, 'proxy --listen=100.64.64.1:7443'))).toMatchObject({
      virtualAddresses: ['100.64.64.1', 'fd00::1'],
      previousAddresses: ['100.64.64.2'],
      listenEverywhere: false,
    });
    expect(placedProxies(daemonSet([], 'proxy --listen=:7443'))).toMatchObject({
      virtualAddresses: [],
      previousAddresses: [],
      listenEverywhere: true,
    });
    const leaving = daemonSet([], 'address remove --stay 100.64.64.1 --http=127.1.1.1:7444');
    expect(placedProxies(leaving).previousAddresses).toEqual(['100.64.64.1']);
  });

  test('are rolled out when all nodes run the newest version, ready', () => {
    const good = { observedGeneration: 2, desiredNumberScheduled: 3 };
    const counts = { updatedNumberScheduled: 3, numberReady: 3 };
    const isDone = (status: object) => isRolledOut(daemonSet([], 'proxy', status));

    expect(isDone({ ...good, ...counts })).toBe(true);
    expect(isDone({ ...good, ...counts, observedGeneration: 1 })).toBe(false);
    expect(isDone({ ...good, ...counts, updatedNumberScheduled: 2 })).toBe(false);
    expect(isDone({ ...good, ...counts, numberReady: 2 })).toBe(false);
    expect(isDone({})).toBe(false);
    expect(isDone({ observedGeneration: 2, desiredNumberScheduled: 0 })).toBe(true);
  });
});

const some = (of: readonly string[]) => fc.subarray([...of]);
const placed: fc.Arbitrary<PlacedProxies> = fc
  .record({ present: some(ADDRESSES), removed: some(ADDRESSES) })
  .chain(({ present, removed }) =>
    fc.record({
      virtualAddresses: fc.constant(present),
      previousAddresses: fc.constant(removed.filter((address) => !present.includes(address))),
      listenEverywhere: present.length === 0 ? fc.constant(true) : fc.boolean(),
      areRolledOut: fc.boolean(),
    }),
  );

describe('at any moment of a change', () => {
  test('no address goes while pods are led to it, and none is both put on and taken off', () => {
    fc.assert(
      fc.property(some(ADDRESSES), some([...ADDRESSES, NODE]), placed, (desired, led, there) => {
        const next = addressesFor(desired, led, there);

        const taken = next.previousAddresses;
        expect(taken.filter((address) => led.includes(address))).toEqual([]);
        expect(taken.filter((address) => next.virtualAddresses.includes(address))).toEqual([]);
        for (const address of desired) expect(next.virtualAddresses).toContain(address);
      }),
    );
  });

  test('every address that was ever put on a node is kept or taken off, never forgotten', () => {
    fc.assert(
      fc.property(some(ADDRESSES), some([...ADDRESSES, NODE]), placed, (desired, led, there) => {
        const next = addressesFor(desired, led, there);

        const known = [...next.virtualAddresses, ...next.previousAddresses];
        for (const address of [...there.virtualAddresses, ...there.previousAddresses]) {
          expect(known).toContain(address);
        }
      }),
    );
  });

  test('what is desired for comes about, whatever was there before', () => {
    fc.assert(
      fc.property(some(ADDRESSES), some(ADDRESSES), (from, desired) => {
        const ledTo = ({ listeners }: ProxyAddresses, before: readonly string[]) => {
          if (listeners.at === 'virtual') return listeners.addresses;
          return listeners.nodes.length === 0 ? before : [NODE];
        };
        const first = addressesFor(from, []);
        let there: PlacedProxies = { ...first, areRolledOut: true };
        let led = ledTo(first, []);
        for (let round = 0; round < 4; round++) {
          const next = addressesFor(desired, led, there);
          // Endpoints only contain addresses that every node has.
          const nowLed = ledTo(next, led);
          for (const address of nowLed.filter((at) => at !== NODE)) {
            expect(there.virtualAddresses).toContain(address);
          }
          led = nowLed;
          there = { ...next, areRolledOut: true };
        }

        expect(led).toEqual(desired.length === 0 ? [NODE] : desired);
        expect([...there.virtualAddresses].toSorted()).toEqual([...desired].toSorted());
        expect(there.listenEverywhere).toBe(desired.length === 0);
      }),
    );
  });
});
