/** For tests only: a CA and the certificates it signs. */
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { isIP } from 'node:net';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY_MS = 24 * 3600 * 1000;

/** A certificate with its key, as PEM. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** Options of {@link TestAuthority.issue}. */
export interface IssueOptions {
  readonly commonName?: string;
  /** DNS names and addresses. Default: none, for a client certificate. */
  readonly names?: readonly string[];
  /** Default: in a year. */
  readonly notAfter?: Date;
}

/** A CA. */
export class TestAuthority {
  readonly cert: string;
  readonly #certificate: x509.X509Certificate;
  readonly #keys: CryptoKeyPair;

  private constructor(certificate: x509.X509Certificate, keys: CryptoKeyPair) {
    this.#certificate = certificate;
    this.#keys = keys;
    this.cert = `${certificate.toString('pem')}\n`;
  }

  static async create(commonName = 'tenant-ca'): Promise<TestAuthority> {
    const keys = await newKeys();
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      name: `CN=${commonName}`,
      serialNumber: serialNumber(),
      notBefore: new Date(Date.now() - 10 * DAY_MS),
      notAfter: new Date(Date.now() + 365 * DAY_MS),
      signingAlgorithm: ALGORITHM,
      keys,
      extensions: [new x509.BasicConstraintsExtension(true, undefined, true)],
    });
    return new TestAuthority(certificate, keys);
  }

  async issue(options: IssueOptions = {}): Promise<Pair> {
    const { commonName = 'leaf', names = [], notAfter } = options;
    const keys = await newKeys();
    const certificate = await x509.X509CertificateGenerator.create({
      subject: `CN=${commonName}`,
      issuer: this.#certificate.subject,
      serialNumber: serialNumber(),
      notBefore: new Date(Date.now() - 9 * DAY_MS),
      notAfter: notAfter ?? new Date(Date.now() + 364 * DAY_MS),
      signingAlgorithm: ALGORITHM,
      publicKey: keys.publicKey,
      signingKey: this.#keys.privateKey,
      extensions: names.length === 0 ? [] : [alternativeNames(names)],
    });
    const der = await crypto.subtle.exportKey('pkcs8', keys.privateKey);
    const body = Buffer.from(der).toString('base64');
    const key = `-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----\n`;
    return { cert: `${certificate.toString('pem')}\n`, key };
  }
}

function alternativeNames(names: readonly string[]): x509.SubjectAlternativeNameExtension {
  return new x509.SubjectAlternativeNameExtension(
    names.map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value })),
  );
}

async function newKeys(): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

/** Returns a serial number that is positive and unique. */
function serialNumber(): string {
  return Buffer.from([1, ...crypto.getRandomValues(new Uint8Array(15))]).toString('hex');
}
