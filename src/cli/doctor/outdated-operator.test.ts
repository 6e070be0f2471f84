import { expect, test } from 'bun:test';
import { objectOf } from '../../operator/testing/objects.ts';
import { hopResult } from '../../probe/hop.ts';
import { outdatedOperator, withOutdatedOperator } from './outdated-operator.ts';
import type { ProbeResults } from './dedupe.ts';

const METADATA = { name: 'blue', namespace: 'tenants', generation: 3 };
const UNROUTED = hopResult('SniNoRoute', 'a:443', 'it hung up', { host: 'a' });
const EXPIRED = hopResult('CertificateExpired', 'a', 'it is over', { certificate: 'it' });

function exposure(status?: object) {
  return objectOf('Exposure', METADATA, status === undefined ? {} : { status });
}

test('an operator that has reported on this very version is not behind', () => {
  expect(outdatedOperator(exposure({ observedGeneration: 3 }), 'system')).toBeUndefined();
  const leaving = objectOf('Exposure', { ...METADATA, deletionTimestamp: '2026-01-01T00:00:00Z' });
  expect(outdatedOperator(leaving, 'system')).toBeUndefined();
});

test('one that has not is, and it is said where to look', () => {
  const old = outdatedOperator(exposure({ observedGeneration: 2 }), 'system');

  expect(old?.message).toContain(
    'The operator has not reconciled the latest change of this Exposure: its generation is 3, but the status is for generation 2.',
  );
  expect(old?.action).toContain('kubectl -n system get deployment snicket-operator');
  expect(outdatedOperator(exposure(), 'system')?.message).toBe(
    'The operator has not reconciled this Exposure yet.',
  );
});

test('what fails for want of it has that one cause, and nothing else has', () => {
  const behind = outdatedOperator(exposure(), 'system');
  const told: ProbeResults = { hops: [UNROUTED, EXPIRED], findings: [] };

  const found = withOutdatedOperator(told, behind);

  expect(found.findings.map(({ code }) => code)).toEqual(['StatusOutdated']);
  expect(found.hops).toEqual([
    {
      name: 'sni',
      target: 'a:443',
      state: 'Skip',
      code: 'PrerequisiteFailed',
      message: 'Failed, most likely for the same reason as StatusOutdated: it hung up',
    },
    EXPIRED,
  ]);
});

test('a rejected spec is the cause itself', () => {
  const refused = { code: 'HostConflict', severity: 'error', message: '', action: '' } as const;
  const told = { hops: [], findings: [refused] };

  expect(withOutdatedOperator(told, outdatedOperator(exposure(), 'system'))).toBe(told);
});
