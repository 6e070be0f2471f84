import { describe, expect, test } from 'bun:test';
import type { KubeObject } from '../../kube/object.ts';
import { heldBy, type Holder } from '../../plan/ownership.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { claimFinding, claimOf, otherHolder, type Claim, type Notes } from './tenant-claim.ts';

const A = { exposure: 'tenants/blue', uid: 'a' };
const B = { exposure: 'tenants/blue', uid: 'b' };
const C = { exposure: 'tenants/blue', uid: 'c' };
const NOON_MS = Date.parse('2026-11-17T12:00:00.000Z');
const ASK_MS = 120_000;

/** The proxies, as written by a holder with these annotations besides. */
function proxiesOf({ exposure, uid }: Holder, annotations = {}): KubeObject {
  const [namespace = '', name = ''] = exposure.split('/');
  const metadata = { name, namespace, ...(uid !== undefined && { uid }) };
  const [proxies] = heldBy({ metadata }, [
    { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { ...PROXY, annotations } },
  ]);
  return proxies as KubeObject;
}

function claim(own: Holder, proxies: KubeObject | undefined, afterMs = 0): Claim {
  return claimOf(own, proxies, { isHere: () => false, nowMs: NOON_MS + afterMs });
}

/** The proxies with these notes, as a merge patch writes them. */
function noted(proxies: KubeObject, notes: Notes = {}): KubeObject {
  const { annotations, ...metadata } = proxies.metadata;
  const all = Object.entries({ ...annotations, ...notes }).filter(([, value]) => value !== null);
  return {
    ...proxies,
    metadata: { ...metadata, annotations: Object.fromEntries(all) as Record<string, string> },
  };
}

/** The proxies after a claim has written what it writes. */
function after(own: Holder, proxies: KubeObject, afterMs = 0): KubeObject {
  const made = claim(own, proxies, afterMs);
  return 'notes' in made ? noted(proxies, made.notes) : proxies;
}

describe('of two management clusters', () => {
  test('the one that comes later asks, is refused by the one that is there, and leaves them alone', () => {
    const asked = after(B, proxiesOf(A));
    expect(claim(B, asked, 1000)).toEqual({ kind: 'waits', rival: A, endMs: NOON_MS + ASK_MS });

    const answered = after(A, asked, 1000);
    expect(claim(B, answered, 2000)).toEqual({ kind: 'yields', rival: A, isHere: false });
    expect(claim(A, answered, 2000)).toEqual({ kind: 'has', notes: undefined });
  });

  test('it takes them, by its name alone, if nobody answers in time', () => {
    const asked = after(B, proxiesOf(A));

    const taken = after(B, asked, ASK_MS);

    expect(claim(B, asked, ASK_MS - 1).kind).toBe('waits');
    expect(taken).toEqual(proxiesOf(B));
    expect(claim(B, taken, ASK_MS)).toEqual({ kind: 'has', notes: undefined });
  });

  test('the one that was away then is the one that asks, and is refused', () => {
    const taken = after(B, after(B, proxiesOf(A)), ASK_MS);

    const answered = after(B, after(A, taken, 2 * ASK_MS), 2 * ASK_MS);

    expect(claim(A, answered, 3 * ASK_MS)).toEqual({ kind: 'yields', rival: B, isHere: false });
  });

  test('whoever is refused has them when they are free, and asks again when the note is taken off', () => {
    const refused = { 'snicket.dev/refused': 'b' };

    expect(claim(B, proxiesOf(A, refused)).kind).toBe('yields');
    expect(claim(B, undefined)).toEqual({ kind: 'has', notes: undefined });
    expect(claim(B, proxiesOf(A)).kind).toBe('asks');
  });

  test('a third one waits for its turn, and has it if the second does not come back', () => {
    const asked = after(B, proxiesOf(A));

    expect(claim(C, asked, ASK_MS)).toEqual({
      ...{ kind: 'waits', rival: A, endMs: NOON_MS + 2 * ASK_MS },
    });
    expect(claim(C, asked, 2 * ASK_MS).kind).toBe('asks');
  });

  test('a question of tomorrow, or one that cannot be read, is asked anew', () => {
    for (const text of ['b 2026-11-18T12:00:00.000Z', 'b 2026-99-99T99:99:99.999Z', 'b', '\n']) {
      const asked = proxiesOf(A, { 'snicket.dev/asked-by': text });

      expect(claim(B, asked)).toEqual({
        ...{ kind: 'asks', rival: A },
        notes: { 'snicket.dev/asked-by': 'b 2026-11-17T12:00:00.000Z' },
      });
    }
  });

  test('proxies that tell no uid are taken without a question', () => {
    const unknown = { exposure: 'tenants/red', uid: undefined };

    expect(claim(A, proxiesOf(unknown))).toEqual({ kind: 'has' });
    expect(claim(unknown, proxiesOf(A))).toEqual({ kind: 'has' });
  });
});

test('of one management cluster, the one that has them keeps them', () => {
  const isHere = ({ uid }: Holder) => uid === 'b';

  expect(claimOf(A, proxiesOf(B), { isHere, nowMs: NOON_MS })).toEqual({
    ...{ kind: 'yields', rival: B, isHere: true },
  });
});

test('what a tenant writes there is bounded, and what is no uid is passed over', () => {
  const uids = Array.from({ length: 100 }, (_, index) => `u${index}`).join(',');
  const annotations = {
    'snicket.dev/refused': `${uids},\n<x>`,
    'snicket.dev/asked-by': 'b 2026-11-17T12:00:00.000Z',
  };

  expect(claim(A, proxiesOf(A, annotations))).toEqual({
    kind: 'has',
    notes: {
      'snicket.dev/asked-by': null,
      'snicket.dev/refused': 'u93,u94,u95,u96,u97,u98,u99,b',
    },
  });
  const rival = { exposure: `${'x'.repeat(100_000)}\n`, uid: 'y'.repeat(100_000) };
  const finding = claimFinding({ kind: 'yields', rival, isHere: false });
  expect(finding?.message.length).toBeLessThan(450);
});

test('whoever leaves knows what is not its own by the uid, or by an Exposure that is here', () => {
  const nobody = () => false;
  const unknown = { exposure: 'tenants/red', uid: undefined };

  expect(otherHolder(A, proxiesOf(B), nobody)).toEqual(B);
  expect(otherHolder(A, proxiesOf(A), nobody)).toBeUndefined();
  expect(otherHolder(A, proxiesOf(unknown), nobody)).toBeUndefined();
  expect(otherHolder(A, proxiesOf(unknown), () => true)).toEqual(unknown);
  expect(otherHolder(A, undefined, nobody)).toBeUndefined();
});

test('names the other one, and the way out', () => {
  expect(claimFinding({ kind: 'has' })).toBeUndefined();
  expect(claimFinding({ kind: 'yields', rival: B, isHere: true })).toEqual({
    ...{ code: 'TenantTaken', severity: 'error' },
    message:
      'the proxies of the tenant are those of Exposure tenants/blue, for the same control plane',
    action: 'delete one of the two Exposures',
  });
  expect(claimFinding({ kind: 'waits', rival: B, endMs: NOON_MS })).toEqual({
    ...{ code: 'TenantAskedFor', severity: 'error' },
    message:
      'the proxies of the tenant are those of Exposure tenants/blue with uid b, of another management cluster or gone from this one, which is asked for them and has until 2026-11-17T12:00:00Z to answer',
    action: 'wait: whoever does not answer loses them',
  });
  expect(claimFinding({ kind: 'yields', rival: B, isHere: false })).toEqual({
    ...{ code: 'TenantHeldElsewhere', severity: 'error' },
    message:
      'the proxies of the tenant are those of Exposure tenants/blue with uid b, of another management cluster or gone from this one, which has refused to give them up',
    action:
      'delete one of the two Exposures; if the other one is gone since, in the tenant: kubectl annotate daemonset snicket-proxy --namespace=kube-system snicket.dev/refused-',
  });
});
