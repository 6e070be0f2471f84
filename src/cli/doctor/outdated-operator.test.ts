import { expect, test } from 'bun:test';
import { objectOf } from '../../operator/testing/objects.ts';
import { hopResult } from '../../probe/hop.ts';
import { outdatedOperator, withOutdatedOperator } from './outdated-operator.ts';
import type { ProbeResults } from './dedupe.ts';

const METADATA = { name: 'blue', namespace: 'tenants', generation: 3 };
const UNROUTED = hopResult('sni', 'NoRoute', 'a:443', 'it hung up', { host: 'a', server: 'it' });
const EXPIRED = hopResult('certificate', 'CertificateExpired', 'a', 'it is over', {
  certificate: 'it',
});

function exposure(status?: object) {
  return objectOf('Exposure', METADATA, status === undefined ? {} : { status });
}

test('an operator that has observed the current generation is not outdated', () => {
  expect(outdatedOperator(exposure({ observedGeneration: 3 }), 'system')).toBeUndefined();
  const deleting = objectOf('Exposure', { ...METADATA, deletionTimestamp: '2026-01-01T00:00:00Z' });
  expect(outdatedOperator(deleting, 'system')).toBeUndefined();
});

test('reports a generation that was not observed, with a command to check the operator', () => {
  const old = outdatedOperator(exposure({ observedGeneration: 2 }), 'system');

  expect(old?.message).toContain(
    'The operator has not reconciled the latest change of this Exposure: its generation is 3, but the status is for generation 2.',
  );
  expect(old?.action).toContain('kubectl -n system get deployment snicket-operator');
  expect(outdatedOperator(exposure(), 'system')?.message).toBe(
    'The operator has not reconciled this Exposure yet.',
  );
});

test('skips exactly the hops whose failure the outdated operator explains', () => {
  const behind = outdatedOperator(exposure(), 'system');
  const results: ProbeResults = { hops: [UNROUTED, EXPIRED], findings: [] };

  const found = withOutdatedOperator(results, behind);

  expect(found.findings.map(({ code }) => code)).toEqual(['NotReconciled']);
  expect(found.hops).toEqual([
    {
      name: 'sni',
      target: 'a:443',
      state: 'Skip',
      code: 'PrerequisiteFailed',
      message: 'Failed, most likely for the same reason as NotReconciled: it hung up',
    },
    EXPIRED,
  ]);
});

test('a rejected spec is reported without an outdated operator', () => {
  const refused = { code: 'HostConflict', severity: 'error', message: '', action: '' } as const;
  const results = { hops: [], findings: [refused] };

  expect(withOutdatedOperator(results, outdatedOperator(exposure(), 'system'))).toBe(results);
});
