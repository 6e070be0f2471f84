import { expect, test } from 'bun:test';
import { ManualClock } from '../../engine/clock.ts';
import type { KubeObject } from '../../kube/object.ts';
import { heldBy, type Holder } from '../../plan/ownership.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { hasYielded, heldElsewhere, rivalOf, TenantClaim } from './tenant-claim.ts';

const OWN = { exposure: 'tenants/blue', uid: 'a' };
const OTHER = { exposure: 'tenants/blue', uid: 'b' };

/** The proxies, as written by a holder. */
function proxiesOf({ exposure, uid }: Holder, resourceVersion = '1'): readonly KubeObject[] {
  const [namespace = '', name = ''] = exposure.split('/');
  const metadata = { ...PROXY, uid: 'of-the-daemon-set', resourceVersion };
  return heldBy({ metadata: { name, namespace, uid } }, [
    { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata },
  ]);
}

test('takes what is free, what is its own, and once what is of another', () => {
  const claim = new TenantClaim(new ManualClock());

  expect(claim.rival(OWN, [], false)).toBeUndefined();
  expect(claim.rival(OWN, proxiesOf(OWN), false)).toBeUndefined();
  expect(claim.rival(OWN, proxiesOf(OTHER), false)).toBeUndefined();

  claim.wrote(proxiesOf(OTHER, '1'), proxiesOf(OWN, '2'));
  expect(claim.rival(OWN, proxiesOf(OTHER, '3'), false)).toEqual(OTHER);
});

test('a write that failed is no taking', () => {
  const claim = new TenantClaim(new ManualClock());
  claim.rival(OWN, proxiesOf(OTHER), false);

  expect(claim.rival(OWN, proxiesOf(OTHER), false)).toBeUndefined();
});

test('its own writes are no taking', () => {
  const claim = new TenantClaim(new ManualClock());

  claim.wrote([], proxiesOf(OWN, '1'));
  claim.wrote(proxiesOf(OWN, '1'), proxiesOf(OWN, '2'));

  expect(claim.rival(OWN, proxiesOf(OTHER, '3'), false)).toBeUndefined();
});

test('is not misled by a watch that still tells of what was there before the taking', () => {
  const claim = new TenantClaim(new ManualClock());

  claim.wrote(proxiesOf(OTHER, '99'), proxiesOf(OWN, '101'));

  expect(claim.rival(OWN, proxiesOf(OTHER, '100'), false)).toBeUndefined();
  expect(claim.rival(OWN, proxiesOf(OTHER, '102'), false)).toEqual(OTHER);
});

test('may take once more after ten minutes in peace, and not after ten minutes without', () => {
  const clock = new ManualClock();
  const claim = new TenantClaim(clock);
  claim.wrote(proxiesOf(OTHER, '1'), proxiesOf(OWN, '2'));

  clock.advance(600_000);
  expect(claim.rival(OWN, proxiesOf(OTHER, '3'), false)).toEqual(OTHER);

  claim.rival(OWN, proxiesOf(OWN, '4'), false);
  expect(claim.rival(OWN, proxiesOf(OTHER, '5'), false)).toBeUndefined();
});

test('whoever has yielded before does not take; nor does an operator that starts anew', () => {
  const claim = new TenantClaim(new ManualClock());
  const { code: reason, message } = heldElsewhere(OTHER);
  const condition = { type: 'TenantReady', status: 'False', reason, message } as const;
  const status = { conditions: [{ ...condition, lastTransitionTime: '2026-11-16T00:00:00Z' }] };

  expect(hasYielded(status)).toBe(true);
  expect(hasYielded({})).toBe(false);
  expect(hasYielded(undefined)).toBe(false);
  expect(claim.rival(OWN, proxiesOf(OTHER), true)).toEqual(OTHER);
});

test('proxies that tell no uid are of the Exposure that they name', () => {
  const claim = new TenantClaim(new ManualClock());
  const unknown = { exposure: OWN.exposure, uid: undefined };

  expect(claim.rival(OWN, proxiesOf(unknown), true)).toBeUndefined();
  expect(claim.rival(OWN, proxiesOf({ ...unknown, exposure: 'tenants/red' }), true)).toEqual({
    ...unknown,
    exposure: 'tenants/red',
  });
});

test('whoever leaves knows another by the uid alone', () => {
  const exposure = { metadata: { name: 'blue', namespace: 'tenants', uid: 'a' } };

  expect(rivalOf(exposure, proxiesOf(OTHER))).toEqual(OTHER);
  expect(rivalOf(exposure, proxiesOf(OWN))).toBeUndefined();
  expect(rivalOf(exposure, proxiesOf({ ...OTHER, uid: undefined }))).toBeUndefined();
  expect(rivalOf(exposure, [])).toBeUndefined();
});

test('names the other one and the way out; what a tenant writes there fills no status', () => {
  expect(heldElsewhere(OTHER)).toEqual({
    code: 'TenantHeldElsewhere',
    severity: 'error',
    message:
      'the proxies of the tenant are those of Exposure tenants/blue of another management cluster (uid b)',
    action:
      'delete one of the two Exposures; if the other one is gone, in the tenant: kubectl annotate daemonset snicket-proxy --namespace=kube-system snicket.dev/exposure-uid-',
  });
  const long = heldElsewhere({ exposure: `${'x'.repeat(100_000)}\n`, uid: 'y'.repeat(100_000) });
  expect(long.message.length).toBeLessThan(300);
});
