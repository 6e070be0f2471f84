import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { EndpointSlice } from '../kube/endpoints/endpoint-slice.ts';
import {
  addressesIn,
  planJoin,
  planLeave,
  otherWriter,
  type ProxyEndpoint,
} from './kubernetes-slice.ts';
import { STEWARD_SLICE } from './testing/tenant.ts';

const ME: ProxyEndpoint = { address: '192.0.2.1', port: 6443 };

/** Returns a slice as the proxies at these addresses would write it. */
function sliceOf(addresses: readonly string[], change: Partial<EndpointSlice> = {}): EndpointSlice {
  const step = planJoin(undefined, ME, () => true);
  if (step.kind !== 'create') throw new Error(`expected step create, not ${step.kind}`);
  const endpoints = addresses.map((address) => ({
    addresses: [address],
    conditions: { ready: true, serving: true, terminating: false },
  }));
  return { ...step.slice, endpoints, ...change };
}

const anyAddress = fc.nat({ max: 9 }).map((last) => `192.0.2.${last}`);
const anyAddresses = fc.uniqueArray(anyAddress);
const alive = fc.uniqueArray(anyAddress).map((list) => new Set(list));

test('a joining proxy is listed once, together with exactly the live proxies', () => {
  fc.assert(
    fc.property(anyAddresses, alive, (before, living) => {
      const found = sliceOf(before);
      const step = planJoin(found, ME, (address) => living.has(address));

      const after = addressesIn(step.kind === 'replace' ? step.slice : found);
      const expected = new Set([...before.filter((address) => living.has(address)), ME.address]);
      expect(after).toHaveLength(expected.size);
      expect(new Set(after)).toEqual(expected);
    }),
  );
});

test('changes nothing and keeps the order once this proxy has joined', () => {
  fc.assert(
    fc.property(anyAddresses, alive, (before, living) => {
      const isAlive = (address: string): boolean => living.has(address);
      const step = planJoin(sliceOf(before), ME, isAlive);
      const slice = step.kind === 'replace' ? step.slice : sliceOf(before);

      expect(planJoin(slice, ME, isAlive)).toEqual({ kind: 'keep' });
      const expected = before.filter((address) => addressesIn(slice).includes(address));
      expect(addressesIn(slice).filter((address) => before.includes(address))).toEqual(expected);
    }),
  );
});

test('a terminating proxy removes itself and dead proxies, but never the last endpoint', () => {
  fc.assert(
    fc.property(anyAddresses, alive, (before, living) => {
      const step = planLeave(sliceOf(before), ME, (address) => living.has(address));

      const others = before.filter((address) => living.has(address) && address !== ME.address);
      if (!before.includes(ME.address)) expect(step).toEqual({ kind: 'keep' });
      else if (others.length === 0) expect(step).toMatchObject({ code: 'LastEntry' });
      else expect(step.kind === 'replace' && addressesIn(step.slice)).toEqual(others);
    }),
  );
});

test('keeps foreign labels and the resource version, so that concurrent writes conflict', () => {
  const metadata = { ...STEWARD_SLICE.metadata, resourceVersion: '7' };
  const labels = { ...metadata.labels, mine: 'too' };

  const step = planJoin({ ...STEWARD_SLICE, metadata: { ...metadata, labels } }, ME, () => false);

  expect(step).toMatchObject({
    kind: 'replace',
    slice: { metadata: { resourceVersion: '7', labels: { mine: 'too' } } },
  });
});

test('rejects a port that differs from that of live proxies, and uses it if there are none', () => {
  const found = sliceOf(['192.0.2.2']);
  const other = { ...ME, port: 7443 };

  expect(planJoin(found, other, () => true)).toMatchObject({ kind: 'blocked', code: 'OtherPort' });
  expect(planJoin(found, other, () => false)).toMatchObject({
    kind: 'replace',
    slice: { ports: [{ port: 7443 }] },
  });
});

test('rejects a slice of the other IP family, with a fix', () => {
  const step = planJoin(sliceOf(['192.0.2.2']), { ...ME, address: 'fd00::1' }, () => true);

  expect(step).toMatchObject({ kind: 'blocked', code: 'OtherFamily' });
  expect(step.kind === 'blocked' && step.message).toContain('delete the slice');
});

test('joins a slice without endpoints and ports, as a server may return it', () => {
  const bare = { ...sliceOf([]), endpoints: null, ports: null } as unknown as EndpointSlice;

  const step = planJoin(bare, ME, () => true);

  expect(step.kind === 'replace' && addressesIn(step.slice)).toEqual([ME.address]);
});

test('detects the last writer of the endpoints by its managed fields', () => {
  const managedFields = [
    { manager: 'kubectl', fieldsV1: { 'f:metadata': {} } },
    { manager: 'kube-apiserver', fieldsV1: { 'f:endpoints': {} } },
  ];
  const ours = [{ manager: 'snicket-tcp-proxy', fieldsV1: { 'f:endpoints': {} } }];
  const slice = sliceOf([]);

  const managedBy = (fields: typeof managedFields): EndpointSlice => {
    return { ...slice, metadata: { ...slice.metadata, managedFields: fields } };
  };

  expect(otherWriter(managedBy(managedFields))).toBe('kube-apiserver');
  expect(otherWriter(managedBy(ours as typeof managedFields))).toBeUndefined();
  expect(otherWriter(slice)).toBeUndefined();
});
