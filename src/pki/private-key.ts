/** Reads private keys from files and converts them for WebCrypto. */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { PkiError } from './pki-error.ts';

/** Signing algorithms, as named by WebCrypto. */
type SigningAlgorithm =
  | { readonly name: 'RSASSA-PKCS1-v1_5'; readonly hash: 'SHA-256' }
  | { readonly name: 'ECDSA'; readonly namedCurve: string; readonly hash: string }
  | { readonly name: 'Ed25519' };

/** A key that signs certificates, with its algorithm. */
interface SigningKey {
  readonly key: CryptoKey;
  readonly algorithm: SigningAlgorithm;
}

/** The new key of a leaf. */
interface LeafKey {
  readonly publicKey: CryptoKey;
  /** PKCS#8 as PEM. */
  readonly pem: string;
}

/** Curves by their OpenSSL names. The hash has the same strength as the curve, as in Go and OpenSSL. */
const CURVES: ReadonlyMap<string, { readonly namedCurve: string; readonly hash: string }> = new Map(
  [
    ['prime256v1', { namedCurve: 'P-256', hash: 'SHA-256' }],
    ['secp384r1', { namedCurve: 'P-384', hash: 'SHA-384' }],
    ['secp521r1', { namedCurve: 'P-521', hash: 'SHA-512' }],
  ],
);

/**
 * Reads the key of a CA in any common form: PKCS#1 (`RSA PRIVATE KEY`), SEC1 (`EC PRIVATE KEY`, with or without
 * preceding parameters) or PKCS#8.
 *
 * @throws PkiError
 */
export function readCaKey(pem: string): KeyObject {
  if (pem.trim() === '') {
    throw new PkiError(
      'CaKeyMissing',
      "The CA's private key is empty.",
      "Provide the key that belongs to the CA's certificate, as PEM.",
    );
  }
  try {
    return createPrivateKey(pem);
  } catch (error) {
    throw keyError(error);
  }
}

function keyError(error: unknown): PkiError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  switch (code) {
    case 'ERR_MISSING_PASSPHRASE':
      return new PkiError(
        'CaKeyInvalid',
        "The CA's private key is encrypted with a passphrase.",
        'Decrypt it: openssl pkey -in ca.key',
        error,
      );
    case 'ERR_OSSL_EVP_UNSUPPORTED_ALGORITHM':
      return unsupported('an unknown algorithm', error);
    default:
      return new PkiError(
        'CaKeyInvalid',
        `The CA's private key cannot be read (${code === '' ? String(error) : code}).`,
        'Provide it as PEM: PKCS#1, SEC1 or PKCS#8.',
        error,
      );
  }
}

function unsupported(algorithm: string, cause?: unknown): PkiError {
  return new PkiError(
    'CaKeyInvalid',
    `The CA's private key uses ${algorithm}, which is not supported.`,
    'Use a CA with an RSA, P-256, P-384, P-521 or Ed25519 key.',
    cause,
  );
}

/**
 * Returns the key for signing. It is not cached between leaves: a tenant gets a leaf every sixty days, and importing
 * the key takes less time (0.03 ms for P-256, 0.4 for RSA, 1.5 for P-384) than an RSA signature.
 *
 * @throws PkiError for an algorithm that WebCrypto does not support.
 */
export async function signingKey(key: KeyObject): Promise<SigningKey> {
  const algorithm = algorithmOf(key);
  // WebCrypto imports only PKCS#8.
  const der = key.export({ type: 'pkcs8', format: 'der' });
  return {
    key: await crypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']),
    algorithm,
  };
}

function algorithmOf({
  asymmetricKeyType: type,
  asymmetricKeyDetails,
}: KeyObject): SigningAlgorithm {
  if (type === 'rsa') return { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  if (type === 'ed25519') return { name: 'Ed25519' };
  const curve = asymmetricKeyDetails?.namedCurve ?? '';
  const known = CURVES.get(curve);
  if (known === undefined) throw unsupported(curve === '' ? `type ${type}` : `the curve ${curve}`);
  return { name: 'ECDSA', ...known };
}

/** Generates a P-256 key: small, fast, and supported by every client. */
export async function newLeafKey(): Promise<LeafKey> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const { publicKey, privateKey } = await crypto.subtle.generateKey(algorithm, true, [
    'sign',
    'verify',
  ]);
  const body = Buffer.from(await crypto.subtle.exportKey('pkcs8', privateKey)).toString('base64');
  const lines = body.match(/.{1,64}/g) ?? [];
  return {
    publicKey,
    pem: `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`,
  };
}
