/** Issues the serving certificate of the node proxy in mode `terminate`, signed by the tenant's CA. */
import 'reflect-metadata'; // must come before x509, which needs it at import
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
  type Extension,
  type X509Certificate,
} from '@peculiar/x509';
import { readAuthority, type Authority, type AuthorityPem } from './authority.ts';
import { normalNames, type LeafNames } from './leaf-names.ts';
import { PkiError } from './pki-error.ts';
import { newLeafKey, signingKey } from './private-key.ts';

const SECOND_MS = 1000;
/** How far the clock of a worker may be behind. */
const SKEW_MS = 5 * 60 * SECOND_MS;
const LIFETIME_MS = 90 * 24 * 3600 * SECOND_MS;
const SERIAL_BYTES = 16;

interface LeafOptions extends LeafNames {
  readonly ca: AuthorityPem;
  readonly now: Date;
  /** Fills bytes for the serial number. Default: random bytes of the system. */
  readonly random?: (bytes: Uint8Array) => Uint8Array;
}

/** A certificate with its key, as PEM. */
export interface Leaf {
  /** The leaf, followed by the intermediates of the CA, if any. */
  readonly certificate: string;
  /** PKCS#8, P-256. */
  readonly key: string;
}

/**
 * Issues a new key and a certificate for it: for server authentication only, valid for 90 days but not longer than the
 * CA.
 *
 * @throws PkiError
 */
export async function issueLeaf(options: LeafOptions): Promise<Leaf> {
  const { ca, now, random = (bytes) => crypto.getRandomValues(bytes) } = options;
  const names = normalNames(options);
  const authority = readAuthority(ca);
  requireValid(authority, now);
  const signing = await signingKey(authority.key);
  const { publicKey, pem } = await newLeafKey();
  const certificate = await X509CertificateGenerator.create({
    subject: 'CN=kubernetes',
    // Uses the name itself instead of its text. Clients compare bytes, and the text loses the string types of the name.
    issuer: authority.certificate.subjectName,
    serialNumber: serialNumber(random(new Uint8Array(SERIAL_BYTES))),
    ...leafDates(authority, now),
    publicKey,
    signingKey: signing.key,
    signingAlgorithm: signing.algorithm,
    extensions: await leafExtensions(names, publicKey, authority.certificate),
  });
  return {
    certificate: `${certificate.toString('pem')}\n${authority.chain.join('')}`,
    key: pem,
  };
}

function requireValid({ certificate, notBefore, notAfter }: Authority, now: Date): void {
  if (now < notBefore) {
    throw new PkiError(
      'CertificateNotYetValid',
      `CA '${certificate.subject}' is not valid before ${notBefore.toISOString()}.`,
      'Correct the clock, or issue the CA certificate again.',
    );
  }
  // A leaf that is issued in the last second of the CA has expired already.
  if (now >= notAfter) {
    throw new PkiError(
      'CertificateExpired',
      `CA '${certificate.subject}' expired at ${notAfter.toISOString()}.`,
      'Renew it where the control plane is managed.',
    );
  }
}

function leafDates(authority: Authority, now: Date): { notBefore: Date; notAfter: Date } {
  const notBeforeMs = Math.max(now.getTime() - SKEW_MS, authority.notBefore.getTime());
  const notAfterMs = Math.min(now.getTime() + LIFETIME_MS, authority.notAfter.getTime());
  return { notBefore: wholeSecond(notBeforeMs), notAfter: wholeSecond(notAfterMs) };
}

/** Rounds down, because certificates have no finer resolution. */
function wholeSecond(ms: number): Date {
  return new Date(Math.floor(ms / SECOND_MS) * SECOND_MS);
}

/** Returns a serial number of 127 bits: positive, and 16 bytes long (RFC 5280 4.1.2.2 allows 20). */
function serialNumber([first = 0, ...rest]: Uint8Array): string {
  return Buffer.from([first & 0x7f, ...rest]).toString('hex');
}

async function leafExtensions(
  { names, addresses }: LeafNames,
  publicKey: CryptoKey,
  issuer: X509Certificate,
): Promise<Extension[]> {
  return [
    new BasicConstraintsExtension(false, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
    new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
    await SubjectKeyIdentifierExtension.create(publicKey),
    new AuthorityKeyIdentifierExtension(await keyIdOf(issuer)),
    new SubjectAlternativeNameExtension([
      ...names.map((value) => ({ type: 'dns', value }) as const),
      ...addresses.map((value) => ({ type: 'ip', value }) as const),
    ]),
  ];
}

/**
 * Returns the key identifier of the CA, or a computed one if the CA has none. Clients then have nothing to compare
 * it with.
 */
async function keyIdOf(issuer: X509Certificate): Promise<string> {
  const keyId = issuer.getExtension(SubjectKeyIdentifierExtension)?.keyId;
  return keyId ?? Buffer.from(await issuer.publicKey.getKeyIdentifier()).toString('hex');
}
