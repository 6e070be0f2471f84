import { expect, test } from 'bun:test';
import { hopResult, notObserved, skippedAfter } from '../../probe/hop.ts';
import type { Examination } from './examination.ts';
import { examinationText, hopsText, tallyOf, unresolvedText } from './doctor-report.ts';

const HOST = 'tenant-01.k8s.a-rather-long-domain-of-some-department.example.com';
const PIPE = { hasColors: false };

const EXAMINATION: Examination = {
  exposure: 'tenants/blue',
  endpoint: `${HOST}:443`,
  edge: 'shared',
  driver: 'traefik',
  mode: 'Terminate',
  isBeingDeleted: false,
  hops: [
    hopResult('edge', 'Passed', '203.0.113.10:443', 'The edge accepts connections.'),
    hopResult('certificate', 'CertificateExpiresSoon', HOST, 'It ends on Friday.', {
      certificate: 'it',
    }),
    hopResult('api', 'ApiUnhealthy', `https://${HOST}:443/version`, 'It answers 500.', {
      host: HOST,
    }),
    skippedAfter('konnectivity', 'k:443', 'edge'),
    notObserved('proxies', 'DaemonSet a/b', 'Not checked: no cluster was available.'),
  ],
  findings: [
    { code: 'IdleTunnelClosed', severity: 'warning', message: 'It may.', action: 'Raise it.' },
    { code: 'HostClaimed', severity: 'error', message: 'It is.', action: 'Remove it.' },
  ],
};

test('prints failed findings first, and sentences below results that did not pass', () => {
  expect(examinationText(EXAMINATION, PIPE))
    .toBe(`tenants/blue  ${HOST}:443  Edge shared (traefik, Terminate)
  HOP           STATE  CODE                    TARGET
  plan          Fail   HostClaimed             Exposure tenants/blue
    It is.
    To do: Remove it.
  plan          Warn   IdleTunnelClosed        Exposure tenants/blue
    It may.
    To do: Raise it.
  edge          Pass   Passed                  203.0.113.10:443
  certificate   Warn   CertificateExpiresSoon  ${HOST}
    It ends on Friday.
    To do: Renew it.
  api           Fail   ApiUnhealthy            https://${HOST}:443/version
    It answers 500.
    To do: Check the log of the API server behind ${HOST}.
  konnectivity  Skip   PrerequisiteFailed      k:443
  proxies       Skip   NotObserved             DaemonSet a/b
    Not checked: no cluster was available.
`);
  expect(tallyOf({ examinations: [EXAMINATION], unresolved: [] })).toEqual({
    fail: 2,
    warn: 2,
    pass: 1,
    skip: 2,
  });
});

test('prints a target that does not fit below its row, without breaking a host', () => {
  const text = examinationText(EXAMINATION, { ...PIPE, columns: 80 });

  expect(text).toContain(`  certificate   Warn   CertificateExpiresSoon\n    ${HOST}\n    It ends`);
  expect(text).toContain('  proxies       Skip   NotObserved             DaemonSet a/b\n');
});

test('prints a line for an Exposure that is being deleted, and for a control plane without an Exposure', () => {
  const leaving = { ...EXAMINATION, isBeingDeleted: true, hops: [], findings: [] };

  expect(examinationText(leaving, PIPE)).toBe(`tenants/blue  ${HOST}:443  is being deleted\n`);
  expect(unresolvedText({ object: 'Cluster a/b', findings: [] }, PIPE)).toBe(
    'Cluster a/b  Exposure not created\n',
  );
});

test('removes line breaks and escape codes from text of other programs', () => {
  const hops = [hopResult('edge', 'Passed', 'a\r\n\u001B[31mb', 'The edge accepts connections.')];

  const text = hopsText('c\r\nd', hops, PIPE);

  expect(text).toMatch(/^c +d\n.*\n {2}edge +Pass +Passed +a +\[31mb\n$/);
});
