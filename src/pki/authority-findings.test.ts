import 'reflect-metadata';
import {
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectKeyIdentifierExtension,
} from '@peculiar/x509';
import { expect, test } from 'bun:test';
import { authorityFindings } from './authority-findings.ts';
import { issueLeaf } from './leaf.ts';
import { hasOpenssl, openssl } from './testing/openssl.ts';
import { makeCa } from './testing/test-ca.ts';

const isCa = new BasicConstraintsExtension(true, undefined, true);
const usage = new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true);
const { keys } = await makeCa();
const keyId = await SubjectKeyIdentifierExtension.create(keys.publicKey);

const CASES = [
  ['none of a CA as kubeadm makes it', [isCa, usage, keyId], []],
  ['no key usage', [isCa, keyId], ['CaWithoutKeyUsage']],
  ['no key identifier', [isCa, usage], ['CaWithoutKeyIdentifier']],
  [
    'constraints that are not critical',
    [new BasicConstraintsExtension(true), usage, keyId],
    ['CaConstraintsNotCritical'],
  ],
] as const;

test.each(CASES)('finds %s', async (_, extensions, codes) => {
  const ca = await makeCa({ keys, extensions });

  const findings = authorityFindings(ca.parsed);

  expect(findings.map(({ code }) => code)).toEqual([...codes]);
  for (const { severity, message } of findings) {
    expect(severity).toBe('warning');
    expect(message).toContain("the CA 'CN=kubernetes-ca' has ");
  }
});

test.skipIf(!hasOpenssl).each(CASES)('openssl agrees: %s', async (_, extensions, codes) => {
  const ca = await makeCa({ keys, extensions });
  const names = { names: ['kubernetes'], addresses: [] };
  const leaf = await issueLeaf({ ca, ...names, now: new Date() });
  const files = { 'ca.crt': ca.certificate, 'tls.crt': leaf.certificate };

  const plain = openssl(files, 'verify', '-CAfile', 'ca.crt', 'tls.crt');
  const strict = openssl(files, 'verify', '-x509_strict', '-CAfile', 'ca.crt', 'tls.crt');

  expect(plain).toBe('tls.crt: OK\n');
  expect(strict === 'tls.crt: OK\n').toBe(codes.length === 0);
});
