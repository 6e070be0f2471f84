import { expect, test } from 'bun:test';
import { caFingerprint } from './fingerprint.ts';
import { hasOpenssl, openssl } from './testing/openssl.ts';
import { makeCa } from './testing/test-ca.ts';

const first = (await makeCa({ name: 'CN=one' })).certificate;
const second = (await makeCa({ name: 'CN=two' })).certificate;

test.skipIf(!hasOpenssl)('equals that of openssl for one certificate', () => {
  const words = ['x509', '-in', 'ca.crt', '-noout', '-fingerprint', '-sha256'];

  const printed = openssl({ 'ca.crt': first }, ...words);

  const [, hex = ''] = printed.trim().split('=');
  expect(caFingerprint(first)).toBe(hex.replaceAll(':', '').toLowerCase());
});

test('depends only on the set of certificates', () => {
  const combined = caFingerprint(`${first}${second}`);

  expect(caFingerprint(`# old\n${second}\n# new\n${first.replaceAll('\n', '\r\n')}${first}`)).toBe(
    combined,
  );
  expect(combined).toMatch(/^[0-9a-f]{64}$/);
  expect(new Set([combined, caFingerprint(first), caFingerprint(second)]).size).toBe(3);
});

test('rejects a text without a certificate', () => {
  expect(() => caFingerprint('ca.crt')).toThrow("The CA's certificate is not PEM.");
});
