import { describe, expect, test } from 'bun:test';
import type { KubeObject } from '../../kube/object.ts';
import { heldBy, type Holder } from '../../plan/ownership.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { claimOf, noted, notesOn, otherHolder, takenFinding, type Claim } from './tenant-claim.ts';

const A = { exposure: 'tenants/blue', uid: 'a' };
const B = { exposure: 'tenants/blue', uid: 'b' };
const NO_NOTES = { takenFrom: undefined, refused: [] };

/** The proxies, as written by a holder with these annotations besides. */
function proxiesOf({ exposure, uid }: Holder, annotations = {}): readonly KubeObject[] {
  const [namespace = '', name = ''] = exposure.split('/');
  const metadata = { name, namespace, ...(uid !== undefined && { uid }) };
  return heldBy({ metadata }, [
    { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { ...PROXY, annotations } },
  ]);
}

function claim(own: Holder, live: readonly KubeObject[], isInPeace = false): Claim {
  return claimOf(own, live, { isHere: () => false, isInPeace });
}

/** What is there once the claim was made good; the same, if it could not be. */
function afterClaimOf(own: Holder, live: readonly KubeObject[]): readonly KubeObject[] {
  const made = claim(own, live);
  return made.rival === undefined ? noted(proxiesOf(own), made.notes) : live;
}

describe('of two management clusters', () => {
  test('the one that comes later takes the proxies, has them taken back, and leaves them then', () => {
    const taken = afterClaimOf(B, proxiesOf(A));
    expect(claim(B, taken)).toEqual({ notes: { takenFrom: 'a', refused: [] } });

    const back = afterClaimOf(A, taken);
    expect(claim(A, back)).toEqual({ notes: { takenFrom: undefined, refused: ['b'] } });
    expect(claim(B, back)).toEqual({ rival: A, isHere: false });
  });

  test('it has them for good if nobody takes them back in time', () => {
    const taken = afterClaimOf(B, proxiesOf(A));
    const { notes = NO_NOTES } = claim(B, taken, true) as { notes?: typeof NO_NOTES };
    const settled = noted(proxiesOf(B), notes);

    const lateAgain = afterClaimOf(A, settled);
    const back = afterClaimOf(B, lateAgain);

    expect(notes).toEqual(NO_NOTES);
    expect(claim(A, back)).toEqual({ rival: B, isHere: false });
  });

  test('whoever is refused has them when they are free, or when the note is taken off', () => {
    const refused = { 'snicket.dev/refused': 'b' };

    expect(claim(B, proxiesOf(A, refused)).rival).toEqual(A);
    expect(claim(B, [])).toEqual({ notes: NO_NOTES });
    expect(claim(B, proxiesOf(A)).rival).toBeUndefined();
  });

  test('proxies that tell no uid are taken without a note', () => {
    const unknown = { exposure: 'tenants/red', uid: undefined };

    expect(claim(A, proxiesOf(unknown))).toEqual({ notes: NO_NOTES });
    expect(claim(unknown, proxiesOf(A))).toEqual({ notes: NO_NOTES });
  });
});

test('of one management cluster, the one that has them keeps them', () => {
  const isHere = ({ uid }: Holder) => uid === 'b';

  expect(claimOf(A, proxiesOf(B), { isHere, isInPeace: false })).toEqual({
    ...{ rival: B, isHere: true },
  });
});

test('what a tenant writes there is bounded, and what is no uid is passed over', () => {
  const uids = Array.from({ length: 100 }, (_, index) => `u${index}`).join(',');
  const annotations = { 'snicket.dev/refused': `${uids},\n<x>`, 'snicket.dev/taken-from': ' ' };

  const { takenFrom, refused } = notesOn(proxiesOf(A, annotations)[0]);

  expect(takenFrom).toBeUndefined();
  expect(refused).toEqual(['u92', 'u93', 'u94', 'u95', 'u96', 'u97', 'u98', 'u99']);
  const rival = { exposure: `${'x'.repeat(100_000)}\n`, uid: 'y'.repeat(100_000) };
  expect(takenFinding(rival, false).message.length).toBeLessThan(350);
});

test('whoever leaves knows what is not its own by the uid, or by an Exposure that is here', () => {
  const nobody = () => false;
  const unknown = { exposure: 'tenants/red', uid: undefined };

  expect(otherHolder(A, proxiesOf(B), nobody)).toEqual(B);
  expect(otherHolder(A, proxiesOf(A), nobody)).toBeUndefined();
  expect(otherHolder(A, proxiesOf(unknown), nobody)).toBeUndefined();
  expect(otherHolder(A, proxiesOf(unknown), () => true)).toEqual(unknown);
  expect(otherHolder(A, [], nobody)).toBeUndefined();
});

test('names the other one, and the way out', () => {
  expect(takenFinding(B, true)).toEqual({
    ...{ code: 'TenantTaken', severity: 'error' },
    message:
      'the proxies of the tenant are those of Exposure tenants/blue, for the same control plane',
    action: 'delete one of the two Exposures',
  });
  expect(takenFinding(B, false)).toEqual({
    ...{ code: 'TenantHeldElsewhere', severity: 'error' },
    message:
      'the proxies of the tenant are those of Exposure tenants/blue of another management cluster (uid b)',
    action:
      'delete one of the two Exposures; if the other one is gone for good, in the tenant: kubectl annotate daemonset snicket-proxy --namespace=kube-system snicket.dev/refused-',
  });
});
