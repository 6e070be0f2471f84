import { expect, test } from 'bun:test';
import { createPrivateKey, generateKeyPairSync, verify } from 'node:crypto';
import { newLeafKey, readCaKey, signingKey } from './private-key.ts';
import { hasOpenssl, openssl } from './testing/openssl.ts';

const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve });

test.each([
  ['RSA', () => generateKeyPairSync('rsa', { modulusLength: 2048 }), 'sha256'],
  ['P-256', () => ec('P-256'), 'sha256'],
  ['P-384', () => ec('P-384'), 'sha384'],
  ['P-521', () => ec('P-521'), 'sha512'],
  ['Ed25519', () => generateKeyPairSync('ed25519'), undefined],
] as const)('a signature of a %s key verifies with its public key', async (_, generate, hash) => {
  const { privateKey, publicKey } = generate();
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const message = Buffer.from('to be signed');

  const { key, algorithm } = await signingKey(readCaKey(pem));
  const signature = Buffer.from(await crypto.subtle.sign(algorithm, key, message));

  const half = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
  expect(verify(hash, message, half, signature)).toBe(true);
  expect(key.extractable).toBe(false);
});

test('rejects a curve that WebCrypto does not support', async () => {
  const pem = ec('P-224').privateKey.export({ type: 'sec1', format: 'pem' }).toString();

  await expect(signingKey(readCaKey(pem))).rejects.toThrow(
    "The CA's private key uses the curve secp224r1, which is not supported.",
  );
});

test.skipIf(!hasOpenssl).each([
  ['ed448', []],
  ['EC', ['-pkeyopt', 'ec_paramgen_curve:secp256k1']],
])('rejects an unsupported algorithm: %s %p', (algorithm, more) => {
  const pem = openssl({}, 'genpkey', '-algorithm', algorithm, ...more);

  expect(() => readCaKey(pem)).toThrow(
    "The CA's private key uses an unknown algorithm, which is not supported.",
  );
});

test('a new key is P-256 in PKCS#8, with standard line lengths', async () => {
  const { pem } = await newLeafKey();

  const key = createPrivateKey(pem);
  expect(key.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
  expect(key.export({ type: 'pkcs8', format: 'pem' }).toString()).toBe(pem);
});
