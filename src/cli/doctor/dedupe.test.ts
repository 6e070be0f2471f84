import { expect, test } from 'bun:test';
import type { Finding } from '../../api/finding.ts';
import { hopResult } from '../../probe/hop.ts';
import { dedupeResults } from './dedupe.ts';

function finding(code: Finding['code']): Finding {
  return { code, severity: 'error', message: 'it is so', action: `mend ${code}` };
}

const PASSES = hopResult('sni', 'Passed', 'a:443', 'it is');
const UNROUTED = hopResult('sni', 'NoRoute', 'a:443', 'it is not', { host: 'a', server: 'it' });
const OLD_PORT = hopResult('kubeconfig', 'KubeconfigMismatch', 'https://a', 'it is not', {
  endpoint: 'a:443',
});
const NAMELESS = hopResult('certificate', 'CertificateNameMissing', 'a', 'it is not', {
  host: 'a',
});
const EXPIRED = hopResult('certificate', 'CertificateExpired', 'a', 'it is', { certificate: 'it' });

test('drops the finding of an unreachable tenant if an earlier hop failed', () => {
  expect(dedupeResults([UNROUTED], [finding('TenantUnreachable')]).findings).toEqual([]);
  expect(dedupeResults([PASSES], [finding('TenantUnreachable')]).findings).toHaveLength(1);
  expect(dedupeResults([OLD_PORT], [finding('TenantUnreachable')]).findings).toHaveLength(1);
});

test('keeps the hop for a kubeconfig of the provider, with the action of the finding', () => {
  const found = dedupeResults(
    [OLD_PORT, NAMELESS],
    [finding('KubeconfigOutdated'), finding('CertificateOutdated')],
  );

  expect(found.findings).toEqual([]);
  expect(found.hops.map(({ action }) => action)).toEqual([
    'mend KubeconfigOutdated',
    'mend CertificateOutdated',
  ]);
});

test('keeps a finding if the hop failed for another reason', () => {
  const found = dedupeResults([EXPIRED], [finding('CertificateOutdated'), finding('HostConflict')]);

  expect(found.findings.map(({ code }) => code)).toEqual(['CertificateOutdated', 'HostConflict']);
  expect(found.hops).toEqual([EXPIRED]);
});
