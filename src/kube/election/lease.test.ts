import { expect, test } from 'bun:test';
import { expiresInMs, acquiredBy, released, observeLease, type Lease } from './lease.ts';

const NOW = new Date('2026-01-02T03:04:05.678Z');
const USUAL_MS = 6_000;

function lease(version: string, spec?: Lease['spec']): Lease {
  const metadata = { name: 'operator', namespace: 'snicket', resourceVersion: version };
  const kind = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata };
  return spec === undefined ? kind : { ...kind, spec };
}

test('a Lease expires by the time since its version was first observed, whatever its renewTime', () => {
  const spec = {
    holderIdentity: 'a',
    leaseDurationSeconds: 6,
    renewTime: '1999-01-01T00:00:00.000000Z',
  };

  const first = observeLease(undefined, lease('1', spec), 1_000);
  const again = observeLease(first, lease('1', spec), 4_000);
  const renewed = observeLease(again, lease('2', spec), 5_000);

  expect(expiresInMs(again, 4_000, USUAL_MS)).toBe(3_000);
  expect(expiresInMs(again, 7_000, USUAL_MS)).toBe(0);
  expect(expiresInMs(renewed, 7_000, USUAL_MS)).toBe(4_000);
});

test('a Lease without a holder is free, and one without a duration has the default duration', () => {
  const unheld = observeLease(undefined, lease('1', { holderIdentity: '' }), 0);
  const empty = observeLease(undefined, lease('1'), 0);
  const endless = observeLease(undefined, lease('1', { holderIdentity: 'a' }), 0);

  expect(expiresInMs(unheld, 0, USUAL_MS)).toBe(0);
  expect(expiresInMs(empty, 0, USUAL_MS)).toBe(0);
  expect(expiresInMs(endless, 1_000, USUAL_MS)).toBe(5_000);
});

test('acquiring a Lease counts a transition, and renewing it does not', () => {
  const options = { durationMs: 6_000, now: NOW };
  const later = { ...options, now: new Date(NOW.getTime() + 2_000) };

  const fresh = acquiredBy('a', lease('1'), options);
  const renewed = acquiredBy('a', fresh, later);
  const taken = acquiredBy('b', renewed, later);

  expect(fresh.spec).toEqual({
    holderIdentity: 'a',
    leaseDurationSeconds: 6,
    leaseTransitions: 0,
    acquireTime: '2026-01-02T03:04:05.678000Z',
    renewTime: '2026-01-02T03:04:05.678000Z',
  });
  expect(renewed.spec).toEqual({ ...fresh.spec, renewTime: '2026-01-02T03:04:07.678000Z' });
  expect(taken.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  expect(taken.spec?.acquireTime).toBe('2026-01-02T03:04:07.678000Z');
});

test('a released Lease has no holder and keeps its count of transitions', () => {
  const held = acquiredBy('b', lease('1', { holderIdentity: 'a', leaseTransitions: 6 }), {
    durationMs: 6_000,
    now: NOW,
  });

  expect(released(held, NOW).spec).toEqual({
    holderIdentity: '',
    leaseDurationSeconds: 1,
    leaseTransitions: 7,
    renewTime: '2026-01-02T03:04:05.678000Z',
  });
});
