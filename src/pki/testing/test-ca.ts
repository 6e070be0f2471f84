/** For tests only: valid and invalid CAs. */
import 'reflect-metadata';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
  type Extension,
  type Name,
  type X509Certificate,
} from '@peculiar/x509';
import { createPrivateKey } from 'node:crypto';

/** The key algorithms that WebCrypto can generate. */
export const KEY_KINDS = {
  rsa: {
    name: 'RSASSA-PKCS1-v1_5',
    hash: 'SHA-256',
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
  },
  p256: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  p384: { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' },
  p521: { name: 'ECDSA', namedCurve: 'P-521', hash: 'SHA-512' },
  ed25519: { name: 'Ed25519' },
} as const;
/** One of {@link KEY_KINDS}. */
export type KeyKind = keyof typeof KEY_KINDS;

/** Options of {@link makeCa}. */
export interface TestCaOptions {
  /** Default `p256`. */
  readonly kind?: KeyKind;
  /** PEM format of the key. Default `pkcs8`. */
  readonly form?: 'pkcs1' | 'sec1' | 'pkcs8';
  /** Default `CN=kubernetes-ca`. */
  readonly name?: string | Name;
  /** Default: ten days ago. */
  readonly notBefore?: Date;
  /** Default: in ten years. */
  readonly notAfter?: Date;
  /** Default: none, the CA is self-signed. */
  readonly parent?: TestCa;
  /** Default: a new key pair. */
  readonly keys?: CryptoKeyPair;
  /** Default: those of kubeadm. */
  readonly extensions?: readonly Extension[];
}

/** A CA. */
export interface TestCa {
  /** The certificate of this CA alone, as PEM. */
  readonly certificate: string;
  readonly key: string;
  readonly parsed: X509Certificate;
  readonly keys: CryptoKeyPair;
  readonly algorithm: (typeof KEY_KINDS)[KeyKind];
}

const DAY_MS = 24 * 3600 * 1000;

/** Creates a CA. */
export async function makeCa(options: TestCaOptions = {}): Promise<TestCa> {
  const { kind = 'p256', form = 'pkcs8', name = 'CN=kubernetes-ca', parent } = options;
  const algorithm = KEY_KINDS[kind];
  const keys =
    options.keys ??
    ((await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as CryptoKeyPair);
  const parsed = await X509CertificateGenerator.create({
    subject: name,
    issuer: parent?.parsed.subjectName ?? name,
    serialNumber: Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString('hex'),
    notBefore: options.notBefore ?? new Date(Date.now() - 10 * DAY_MS),
    notAfter: options.notAfter ?? new Date(Date.now() + 3650 * DAY_MS),
    publicKey: keys.publicKey,
    signingKey: (parent?.keys ?? keys).privateKey,
    signingAlgorithm: parent?.algorithm ?? algorithm,
    extensions: [...(options.extensions ?? (await caExtensions(keys, parent?.keys)))],
  });
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey));
  const key = createPrivateKey({ key: der, type: 'pkcs8', format: 'der' });
  return {
    certificate: `${parsed.toString('pem')}\n`,
    key: key.export({ type: form, format: 'pem' } as { type: 'pkcs8'; format: 'pem' }).toString(),
    parsed,
    keys,
    algorithm,
  };
}

/** Returns the extensions of a CA created by kubeadm, or of an intermediate. */
export async function caExtensions(
  keys: CryptoKeyPair,
  parent?: CryptoKeyPair,
): Promise<readonly Extension[]> {
  return [
    new BasicConstraintsExtension(true, undefined, true),
    new KeyUsagesExtension(
      KeyUsageFlags.digitalSignature | KeyUsageFlags.keyEncipherment | KeyUsageFlags.keyCertSign,
      true,
    ),
    await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ...(parent === undefined
      ? []
      : [await AuthorityKeyIdentifierExtension.create(parent.publicKey)]),
  ];
}
