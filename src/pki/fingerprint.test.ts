import { expect, test } from 'bun:test';
import { caFingerprint } from './fingerprint.ts';
import { hasOpenssl, openssl } from './testing/openssl.ts';
import { makeCa } from './testing/test-ca.ts';

const one = (await makeCa({ name: 'CN=one' })).certificate;
const two = (await makeCa({ name: 'CN=two' })).certificate;

test.skipIf(!hasOpenssl)('equals that of openssl for one certificate', () => {
  const words = ['x509', '-in', 'ca.crt', '-noout', '-fingerprint', '-sha256'];

  const printed = openssl({ 'ca.crt': one }, ...words);

  const [, hex = ''] = printed.trim().split('=');
  expect(caFingerprint(one)).toBe(hex.replaceAll(':', '').toLowerCase());
});

test('depends on the certificates alone', () => {
  const both = caFingerprint(`${one}${two}`);

  expect(caFingerprint(`# old\n${two}\n# new\n${one.replaceAll('\n', '\r\n')}${one}`)).toBe(both);
  expect(both).toMatch(/^[0-9a-f]{64}$/);
  expect(new Set([both, caFingerprint(one), caFingerprint(two)]).size).toBe(3);
});

test('rejects a text without a certificate', () => {
  expect(() => caFingerprint('ca.crt')).toThrow("The CA's certificate is not PEM.");
});
