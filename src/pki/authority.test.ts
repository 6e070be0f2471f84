import 'reflect-metadata';
import { BasicConstraintsExtension, KeyUsageFlags, KeyUsagesExtension } from '@peculiar/x509';
import { expect, test } from 'bun:test';
import { createPrivateKey } from 'node:crypto';
import { hasIssuer, readAuthority, type AuthorityPem } from './authority.ts';
import { PkiError } from './pki-error.ts';
import { makeCa } from './testing/test-ca.ts';

const ca = await makeCa();
const other = await makeCa({ name: 'CN=other' });
const isCa = new BasicConstraintsExtension(true, undefined, true);
const noCa = await makeCa({ extensions: [new BasicConstraintsExtension(false, undefined, true)] });
const plain = await makeCa({ extensions: [] });
const noSign = await makeCa({
  extensions: [isCa, new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true)],
});
const locked = createPrivateKey(ca.key)
  .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' })
  .toString();

function refusal(pem: AuthorityPem): PkiError {
  try {
    readAuthority(pem);
  } catch (error) {
    if (error instanceof PkiError) return error;
    throw error;
  }
  throw new Error('it was taken');
}

const wrong: [string, AuthorityPem, string, string][] = [
  [
    'an empty certificate',
    { ...ca, certificate: ' \n' },
    'CaInvalid',
    "Provide the tenant's ca.crt.",
  ],
  ['an invalid certificate', { ...ca, certificate: 'x' }, 'CaInvalid', 'is not PEM'],
  ['a key instead of a certificate', { ...ca, certificate: ca.key }, 'CaInvalid', 'is not PEM'],
  [
    'a truncated certificate',
    { ...ca, certificate: `${ca.certificate}${ca.certificate.replace(/\n.{64}\n/, '\n')}` },
    'CaInvalid',
    'Certificate 2 of 2 of the CA cannot be read (',
  ],
  ['an empty key', { ...ca, key: '' }, 'CaKeyMissing', 'private key is empty'],
  ['an invalid key', { ...ca, key: 'garbage' }, 'CaKeyInvalid', 'cannot be read (ERR_'],
  ['an encrypted key', { ...ca, key: locked }, 'CaKeyInvalid', 'openssl pkey -in ca.key'],
  ['the key of another CA', { ...ca, key: other.key }, 'CaKeyInvalid', "'CN=kubernetes-ca'"],
  [
    'a certificate with CA:FALSE',
    noCa,
    'CaInvalid',
    "Certificate 'CN=kubernetes-ca' is not a CA certificate (basicConstraints).",
  ],
  ['a certificate without basicConstraints', plain, 'CaInvalid', '(basicConstraints)'],
  ['a CA without keyCertSign', noSign, 'CaInvalid', 'lacks keyCertSign'],
];

test.each(wrong)('rejects %s with a code, the value and an action', (_, pem, code, sentence) => {
  const { message, finding } = refusal(pem);

  expect(finding.code as string).toBe(code);
  expect(message).toContain(sentence);
  expect(message).toBe(`${finding.message} ${finding.action}`);
});

test('no error message contains a part of the key', () => {
  const secrets = [ca, other, { key: locked }].map(({ key }) => key.split('\n')[1]!);

  for (const [, pem] of wrong) {
    const text = Bun.inspect(refusal(pem));
    for (const secret of secrets) expect(text).not.toContain(secret);
  }
});

test('accepts a CA without key usage', async () => {
  const silent = await makeCa({ extensions: [isCa] });

  expect(readAuthority(silent).certificate.subject).toBe('CN=kubernetes-ca');
});

test('reads a key after EC parameters, and CRLF line ends', async () => {
  const { certificate, key } = await makeCa({ form: 'sec1' });
  const parameters =
    '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';

  const authority = readAuthority({
    certificate: certificate.replaceAll('\n', '\r\n'),
    key: `${parameters}${key}`,
  });

  expect(authority.key.asymmetricKeyType).toBe('ec');
});

test('uses the certificate that expires last, of a CA renewed with the same key', async () => {
  const notAfter = new Date('2050-01-01T00:00:00Z');
  const renewed = await makeCa({ keys: ca.keys, notAfter });

  const authority = readAuthority({
    certificate: `${ca.certificate}${renewed.certificate}${other.certificate}`,
    key: ca.key,
  });

  expect(authority.notAfter).toEqual(notAfter);
  expect(authority.chain).toEqual([]);
});

test('an intermediate without issuers is its own chain, which expires with its first certificate', async () => {
  const root = await makeCa({ name: 'CN=root' });
  const notAfter = new Date('2030-01-01T00:00:00Z');
  const middle = await makeCa({ name: 'CN=middle', parent: root, notAfter });
  const low = await makeCa({ name: 'CN=low', parent: middle });

  const alone = readAuthority(low);
  const complete = readAuthority({
    certificate: `${root.certificate}${middle.certificate}${low.certificate}`,
    key: low.key,
  });

  expect(alone.chain).toEqual([low.certificate]);
  expect(complete.chain).toEqual([low.certificate, middle.certificate]);
  expect(complete.notAfter).toEqual(notAfter);
});

test('two CAs that have signed each other do not form an endless chain', async () => {
  const first = await makeCa({ name: 'CN=one' });
  const second = await makeCa({ name: 'CN=two', parent: first });
  const firstBySecond = await makeCa({ name: 'CN=one', keys: first.keys, parent: second });

  const { chain } = readAuthority({
    certificate: `${firstBySecond.certificate}${second.certificate}`,
    key: first.key,
  });

  expect(chain).toEqual([firstBySecond.certificate, second.certificate]);
});

test('an issuer is recognized by name and signature', async () => {
  const child = await makeCa({ name: 'CN=child', parent: ca });
  const namesake = await makeCa();

  expect(hasIssuer(child.parsed, ca.parsed)).toBe(true);
  expect(hasIssuer(child.parsed, namesake.parsed)).toBe(false);
  expect(hasIssuer(child.parsed, other.parsed)).toBe(false);
});
