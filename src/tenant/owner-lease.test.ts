import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { KubeObject } from '../kube/object.ts';
import {
  DEFAULT_LEASE_DURATION_MS,
  exposureOfCluster,
  expiresInMs,
  isLongExpired,
  newOwnerLease,
  observeLease,
  ownerIdentity,
  ownerText,
  readOwnerLease,
  renewedLease,
  type OwnerLease,
} from './owner-lease.ts';

const NOW = new Date('2026-03-01T12:00:00Z');
const HOUR_MS = 3_600_000;
const BLUE = ownerIdentity('1234-abcd', 'tenants/blue');

function stored(object: KubeObject, uid = 'lease-uid', resourceVersion = '7'): OwnerLease {
  return readOwnerLease({ ...object, metadata: { ...object.metadata, uid, resourceVersion } });
}

const acquired = stored(renewedLease(BLUE, DEFAULT_LEASE_DURATION_MS, undefined, NOW));

function leaseWith(spec: unknown): OwnerLease {
  const lease: KubeObject & { readonly spec: unknown } = { ...newOwnerLease('x', 1000), spec };
  return readOwnerLease(lease);
}

describe('an acquired Lease', () => {
  test('names its owner, its duration and its times', () => {
    expect(acquired).toEqual({
      uid: 'lease-uid',
      resourceVersion: '7',
      holderIdentity: '1234-abcd/tenants/blue',
      durationMs: 900_000,
      acquireTime: '2026-03-01T12:00:00.000000Z',
      renewTime: '2026-03-01T12:00:00.000000Z',
      transitions: 0,
    });
  });

  test('keeps its acquire time when renewed, and requires the version that was read', () => {
    const later = new Date(NOW.getTime() + 300_000);

    const renewed = renewedLease(BLUE, DEFAULT_LEASE_DURATION_MS, acquired, later);

    expect(renewed.metadata).toMatchObject({ uid: 'lease-uid', resourceVersion: '7' });
    expect(stored(renewed)).toEqual({ ...acquired, renewTime: '2026-03-01T12:05:00.000000Z' });
  });

  test('counts a transition when the owner changes', () => {
    const taken = stored(renewedLease('5678/tenants/blue', 60_000, acquired, NOW));

    expect(taken).toMatchObject({ holderIdentity: '5678/tenants/blue', transitions: 1 });
  });
});

test('an identity belongs to the management cluster in its prefix', () => {
  expect(exposureOfCluster(BLUE, '1234-abcd')).toBe('tenants/blue');
  expect(exposureOfCluster(BLUE, '1234')).toBeUndefined();
});

test('an owner is named by its Exposure and cluster, and quoted if it is not an identity', () => {
  expect(ownerText(BLUE)).toBe('Exposure tenants/blue of management cluster 1234-abcd');
  expect(ownerText('a\nb')).toBe('"a b"');
  expect(ownerText('x'.repeat(10_000)).length).toBeLessThan(140);
});

describe('a Lease that a tenant has modified', () => {
  test.each([[undefined], [0], [-1], [Number.NaN], ['900'], [{}]])(
    'the duration %p counts as the default',
    (leaseDurationSeconds) => {
      expect(leaseWith({ leaseDurationSeconds }).durationMs).toBe(DEFAULT_LEASE_DURATION_MS);
    },
  );

  test('a duration of more than an hour counts as an hour', () => {
    expect(leaseWith({ leaseDurationSeconds: 2 ** 31 }).durationMs).toBe(HOUR_MS);
  });

  test('never expires later than after an hour, and never makes a message long', () => {
    const fields = ['holderIdentity', 'leaseDurationSeconds', 'renewTime', 'leaseTransitions'];
    const spec = fc.oneof(
      fc.dictionary(fc.constantFrom(...fields), fc.anything()),
      fc.record({ holderIdentity: fc.string(), renewTime: fc.date().map(String) }),
      fc.anything(),
    );
    fc.assert(
      fc.property(spec, fc.nat(), (content, nowMs) => {
        const lease = leaseWith(content);
        const observation = observeLease(undefined, lease, nowMs);

        const leftMs = expiresInMs(lease, observation, { nowMs, now: NOW });

        expect(leftMs).toBeWithin(0, HOUR_MS + 1);
        expect(ownerText(lease.holderIdentity).length).toBeLessThan(300);
        const next = renewedLease(BLUE, 60_000, lease, NOW) as unknown as Renewed;
        expect(next.spec.leaseTransitions).toBeWithin(0, 2 ** 31);
      }),
    );
  });
});

interface Renewed {
  readonly spec: { readonly leaseTransitions: number };
}

describe('a Lease of another owner', () => {
  const first = observeLease(undefined, acquired, 1000);
  const left = (lease: OwnerLease, since: typeof first, nowMs: number) =>
    expiresInMs(lease, since, { nowMs, now: NOW });

  test('expires one duration after it was first observed', () => {
    expect(left(acquired, first, 1000)).toBe(900_000);
    expect(left(acquired, first, 900_999)).toBe(1);
    expect(left(acquired, first, 901_000)).toBe(0);
  });

  test('expires later when it is renewed, and not after other changes', () => {
    const renewed = { ...acquired, resourceVersion: '8', renewTime: '2026-03-01T12:05:00.000000Z' };

    expect(observeLease(first, { ...acquired, resourceVersion: '8' }, 5000)).toBe(first);
    expect(observeLease(first, renewed, 5000).sinceMs).toBe(5000);
  });

  test('is respected if the clock of its owner is ahead, or up to an hour behind', () => {
    const at = (offsetMs: number) => new Date(NOW.getTime() + offsetMs);

    expect(isLongExpired(acquired, at(-100 * HOUR_MS))).toBe(false);
    expect(isLongExpired(acquired, at(HOUR_MS + 900_000))).toBe(false);
    expect(isLongExpired(acquired, at(HOUR_MS + 900_001))).toBe(true);
  });

  test('has a duration of at least 15 seconds', () => {
    const spec = { holderIdentity: 'a/b/c', leaseDurationSeconds: 1e-9 };
    const object = { apiVersion: 'v1', kind: 'Lease', metadata: { name: 'a' }, spec };

    expect(readOwnerLease(object).durationMs).toBe(15_000);
  });

  test('without an owner can be acquired at once', () => {
    expect(left({ ...acquired, holderIdentity: '' }, first, 1000)).toBe(0);
  });
});
