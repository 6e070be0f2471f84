import { expect, test } from 'bun:test';
import { validityProblem, parseServingCertificate, withIssuer } from './serving-certificate.ts';
import { parseTenantSecret } from './tenant-secret.ts';
import { parseTrustedAuthorities } from './trusted-authorities.ts';
import { TestAuthority } from '../../net/testing/certificates.ts';

const authority = await TestAuthority.create();
const notAfter = new Date('2031-02-03T04:05:06Z');
const pair = await authority.issue({ names: ['kubernetes'], notAfter });
const other = await authority.issue({ names: ['kubernetes'] });
const paths = { certificate: 'tls.crt', key: 'tls.key' };

function serving(certificate: string, key: string) {
  return parseServingCertificate(Buffer.from(certificate), Buffer.from(key), paths);
}

test('reads a certificate with its key and its expiry date', () => {
  expect(serving(pair.cert, pair.key).notAfterSeconds).toBe(notAfter.getTime() / 1000);
});

test('warns about an expired certificate, with its dates', () => {
  const pods = serving(pair.cert, pair.key);

  expect(validityProblem(pods, Date.parse('2031-02-03T04:05:06Z') / 1000)).toBeUndefined();
  expect(validityProblem(pods, Date.parse('2031-02-03T04:05:07Z') / 1000)).toMatch(
    /^the serving certificate has expired \(valid from .* to 2031-02-03T04:05:06.000Z\)/,
  );
  expect(validityProblem(pods, 0)).toStartWith(
    'the serving certificate is not valid yet (valid from 2',
  );
});

test('reads the leaf of a chain', () => {
  const { notAfterSeconds } = serving(pair.cert + authority.cert, pair.key);

  expect(notAfterSeconds).toBe(notAfter.getTime() / 1000);
});

test.each([
  [
    'the key of another certificate',
    pair.cert,
    other.key,
    'the key in tls.key does not match the certificate',
  ],
  ['no certificate', 'nonsense', pair.key, 'tls.crt contains no valid certificate'],
  ['no key', pair.cert, 'nonsense', 'tls.key contains no valid private key'],
  ['exchanged files', pair.key, pair.cert, 'tls.crt contains no valid certificate'],
  ['empty files', '', '', 'tls.crt contains no valid certificate'],
])('rejects %s and names the file', (_, certificate, key, message) => {
  expect(() => serving(certificate, key)).toThrow(message);
});

test('appends the issuer to a lone leaf, and leaves a chain unchanged', async () => {
  const otherAuthority = await TestAuthority.create();
  const bundle = otherAuthority.cert + authority.cert;
  const count = (pem: string) => pem.match(/BEGIN CERTIFICATE/g)?.length;

  const alone = withIssuer(serving(pair.cert, pair.key), bundle);
  expect(count(alone.certificate)).toBe(2);
  expect(alone.certificate).toContain(authority.cert.trim());
  expect(alone.key).toBe(serving(pair.cert, pair.key).key);

  const chain = serving(pair.cert + authority.cert, pair.key);
  expect(withIssuer(chain, bundle)).toBe(chain);
  const unrelated = serving(pair.cert, pair.key);
  expect(withIssuer(unrelated, otherAuthority.cert)).toBe(unrelated);
});

test('reads a bundle of authorities with comments', () => {
  const bundle = Buffer.from(`# the old one\n${authority.cert}# the new one\n${authority.cert}`);

  expect(parseTrustedAuthorities(bundle, 'ca.crt').count).toBe(2);
});

test.each([
  ['an empty file', '', 'ca.crt contains no certificate'],
  ['a key', pair.key, 'ca.crt contains no certificate'],
  [
    'a bundle with a corrupt certificate',
    authority.cert + authority.cert.replace(/\nMII..../, '\nMIIAAAA'),
    'certificate 2 of 2 in ca.crt is invalid',
  ],
])('rejects %s instead of authorities', (_, content, message) => {
  expect(() => parseTrustedAuthorities(Buffer.from(content), 'ca.crt')).toThrow(message);
});

test('reads a tenant key with or without a trailing newline', () => {
  const text = Buffer.alloc(32, 7).toString('base64');

  for (const content of [text, `${text}\n`]) {
    const key = parseTenantSecret(Buffer.from(content), 'tenant.key', 'A.k8s.test');
    expect(key.host).toBe('a.k8s.test');
    expect([...key.secret]).toEqual([...Buffer.alloc(32, 7)]);
  }
});

test.each([
  ['not encoded', Buffer.alloc(32, 0xf7), 'tenant.key is not base64 on one line'],
  [
    'on two lines',
    Buffer.from(`${'A'.repeat(43)}=\n${'A'.repeat(43)}=`),
    'is not base64 on one line',
  ],
  ['empty', Buffer.alloc(0), 'is not base64 on one line'],
  ['too short', Buffer.from(Buffer.alloc(16, 1).toString('base64')), 'has 16 bytes instead of 32'],
])('rejects a tenant key that is %s', (_, content, message) => {
  const parse = () => parseTenantSecret(content, 'tenant.key', 'a.k8s.test');

  expect(parse).toThrow(message);
});
