import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { createPrivateKey } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const RSA_ALGORITHM = {
  name: 'RSASSA-PKCS1-v1_5',
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
  hash: 'SHA-256',
} as const;
type KeyAlgorithm = typeof ALGORITHM | typeof RSA_ALGORITHM;
const DAY_MS = 24 * 3600 * 1000;

/** A certificate with its private key, as PEM. */
export interface Credential {
  readonly certificate: string;
  readonly key: string;
}

/** Content of a certificate. */
export interface Subject {
  readonly commonName: string;
  /** Kubernetes reads groups from here. */
  readonly organization?: string;
  /** DNS names and addresses, for a server certificate. Without names, the certificate is for a client. */
  readonly names?: readonly string[];
  /** Default: in a year. */
  readonly notAfter?: Date;
}

/** Options of {@link Authority.create}. */
export interface AuthorityOptions {
  /** `rsa` keys are written as PKCS#1, the only private key format that Kamaji v1.0.0 reads. Default `ecdsa`. */
  readonly keyType?: 'ecdsa' | 'rsa';
}

/** A cluster's certificate authority. */
export class Authority {
  readonly certificate: string;
  readonly key: string;
  readonly #certificate: x509.X509Certificate;
  readonly #signingKey: CryptoKey;
  readonly #algorithm: KeyAlgorithm;

  private constructor(
    certificate: x509.X509Certificate,
    signingKey: CryptoKey,
    key: string,
    algorithm: KeyAlgorithm,
  ) {
    this.#certificate = certificate;
    this.#signingKey = signingKey;
    this.#algorithm = algorithm;
    this.certificate = `${certificate.toString('pem')}\n`;
    this.key = key;
  }

  /** Creates a CA. */
  static async create(commonName: string, options: AuthorityOptions = {}): Promise<Authority> {
    const rsa = options.keyType === 'rsa';
    const algorithm = rsa ? RSA_ALGORITHM : ALGORITHM;
    const keys = await generateKeys(algorithm);
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      name: `CN=${commonName}`,
      serialNumber: serialNumber(),
      notBefore: new Date(Date.now() - DAY_MS),
      notAfter: new Date(Date.now() + 365 * DAY_MS),
      signingAlgorithm: algorithm,
      keys,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(
          x509.KeyUsageFlags.keyCertSign |
            x509.KeyUsageFlags.cRLSign |
            x509.KeyUsageFlags.digitalSignature,
          true,
        ),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    });
    const key = await privatePem(keys);
    return new Authority(certificate, keys.privateKey, rsa ? pkcs1(key) : key, algorithm);
  }

  /** Opens an existing CA, which has an RSA key or a P-256 key. */
  static async open({ certificate, key }: Credential): Promise<Authority> {
    const privateKey = createPrivateKey(key);
    const algorithm = privateKey.asymmetricKeyType === 'rsa' ? RSA_ALGORITHM : ALGORITHM;
    const der = privateKey.export({ type: 'pkcs8', format: 'der' });
    const signingKey = await crypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']);
    return new Authority(new x509.X509Certificate(certificate), signingKey, key, algorithm);
  }

  /** Issues a certificate with a new ECDSA key. */
  async issue(subject: Subject): Promise<Credential> {
    const keys = await generateKeys(ALGORITHM);
    const names = subject.names ?? [];
    const certificate = await x509.X509CertificateGenerator.create({
      subject: `${subject.organization ? `O=${subject.organization}, ` : ''}CN=${subject.commonName}`,
      // Copies the encoded name, because Go compares its bytes, and the same text has several encodings.
      issuer: this.#certificate.subjectName,
      serialNumber: serialNumber(),
      notBefore: new Date(Date.now() - DAY_MS),
      notAfter: subject.notAfter ?? new Date(Date.now() + 364 * DAY_MS),
      signingAlgorithm: this.#algorithm,
      publicKey: keys.publicKey,
      signingKey: this.#signingKey,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([
          names.length > 0 ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth,
        ]),
        await authorityKeyIdentifier(this.#certificate),
        ...(names.length > 0
          ? [
              new x509.SubjectAlternativeNameExtension(
                names.map((value) => ({
                  type: isIP(value) ? ('ip' as const) : ('dns' as const),
                  value,
                })),
              ),
            ]
          : []),
      ],
    });
    return { certificate: `${certificate.toString('pem')}\n`, key: await privatePem(keys) };
  }
}

/** Generates a key pair for signing service account tokens, as PEM. */
export async function tokenKeys(): Promise<{ publicKey: string; privateKey: string }> {
  const keys = await generateKeys(ALGORITHM);
  const spki = await crypto.subtle.exportKey('spki', keys.publicKey);
  return { publicKey: pem('PUBLIC KEY', spki), privateKey: await privatePem(keys) };
}

/** Writes NAME.crt and NAME.key, the key with mode 0600, and returns their paths. */
export function writeCredential(
  folder: string,
  name: string,
  credential: Credential,
): { certificate: string; key: string } {
  mkdirSync(folder, { recursive: true });
  const paths = { certificate: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
  writeFileSync(paths.certificate, credential.certificate);
  writeFileSync(paths.key, credential.key, { mode: 0o600 });
  return paths;
}

/** Copies the subject key identifier of the CA. Computing it would fail, because Go uses another hash since 1.25. */
async function authorityKeyIdentifier(authority: x509.X509Certificate): Promise<x509.Extension> {
  const identifier = authority.getExtension(x509.SubjectKeyIdentifierExtension);
  return identifier
    ? new x509.AuthorityKeyIdentifierExtension(identifier.keyId)
    : x509.AuthorityKeyIdentifierExtension.create(authority.publicKey);
}

async function generateKeys(algorithm: KeyAlgorithm): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

async function privatePem(keys: CryptoKeyPair): Promise<string> {
  return pem('PRIVATE KEY', await crypto.subtle.exportKey('pkcs8', keys.privateKey));
}

/** Converts an RSA key from PKCS#8 to PKCS#1. */
function pkcs1(key: string): string {
  return createPrivateKey(key).export({ type: 'pkcs1', format: 'pem' }).toString();
}

function pem(label: string, der: ArrayBuffer): string {
  const body = Buffer.from(der)
    .toString('base64')
    .replace(/(.{64})/g, '$1\n')
    .trimEnd();
  return `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`;
}

/** Returns 127 random bits, so that the number is positive and practically unique. */
function serialNumber(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[0] = (bytes[0] ?? 0) & 0x7f;
  return Buffer.from(bytes).toString('hex');
}
