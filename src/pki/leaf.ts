/**
 * The certificate by which the node proxy answers pods in mode terminate: made for this purpose alone, signed by the
 * tenant's CA.
 */
import 'reflect-metadata'; // before x509, which cannot be loaded without
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
/** How far the clock of a worker may be behind ours. */
const SKEW_MS = 5 * 60 * SECOND_MS;
const LIFETIME_MS = 90 * 24 * 3600 * SECOND_MS;
const SERIAL_BYTES = 16;

/** Options of {@link issueLeaf}. */
export interface LeafOptions extends LeafNames {
  readonly ca: AuthorityPem;
  readonly now: Date;
  /** Fills bytes for the serial number. Default: the random numbers of the system. */
  readonly random?: (bytes: Uint8Array) => Uint8Array;
}

/** A certificate with its key, as PEM. */
export interface Leaf {
  /** The leaf, and behind it the intermediates of the CA if it has any. */
  readonly certificate: string;
  /** PKCS#8, P-256. */
  readonly key: string;
}

/**
 * A new key and a certificate for it: server authentication only, for 90 days, but not beyond the end of the CA.
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
    // The name itself, not its text: clients compare bytes, and a text does not tell which kind of string it was.
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
      'CaNotYetValid',
      `the CA '${certificate.subject}' is not valid before ${notBefore.toISOString()}`,
      'set the clock, or make the CA anew',
    );
  }
  // With its last second the leaf would be born dead.
  if (now >= notAfter) {
    throw new PkiError(
      'CaExpired',
      `the CA '${certificate.subject}' has expired at ${notAfter.toISOString()}`,
      'renew it where the control plane is made',
    );
  }
}

function leafDates(authority: Authority, now: Date): { notBefore: Date; notAfter: Date } {
  const notBeforeMs = Math.max(now.getTime() - SKEW_MS, authority.notBefore.getTime());
  const notAfterMs = Math.min(now.getTime() + LIFETIME_MS, authority.notAfter.getTime());
  return { notBefore: wholeSecond(notBeforeMs), notAfter: wholeSecond(notAfterMs) };
}

/** Certificates know no smaller unit. */
function wholeSecond(ms: number): Date {
  return new Date(Math.floor(ms / SECOND_MS) * SECOND_MS);
}

/** 127 bits, so that it is positive and 16 bytes are enough (RFC 5280 4.1.2.2 allows 20). */
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

/** As the CA says it. One that does not say it has no key identifier for clients to compare: any will do. */
async function keyIdOf(issuer: X509Certificate): Promise<string> {
  const said = issuer.getExtension(SubjectKeyIdentifierExtension)?.keyId;
  return said ?? Buffer.from(await issuer.publicKey.getKeyIdentifier()).toString('hex');
}
