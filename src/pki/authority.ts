/**
 * A tenant's CA as its Secret holds it: one certificate or several, and a key that belongs to one of them.
 */
import 'reflect-metadata'; // before x509, which cannot be loaded without
import {
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  X509Certificate,
} from '@peculiar/x509';
import { X509Certificate as NodeCertificate, type KeyObject } from 'node:crypto';
import { certificateBlocks } from '../wire/pem.ts';
import { PkiError } from './pki-error.ts';
import { readCaKey } from './private-key.ts';

/** A CA as PEM. */
export interface AuthorityPem {
  /** One certificate or several: two roots while one replaces the other, or an intermediate with its issuers. */
  readonly certificate: string;
  readonly key: string;
}

/** A CA that can sign. */
export interface Authority {
  /** The one that the key belongs to. */
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
  /** What a server has to send behind its leaf, as PEM: this CA and its issuers up to the root; none if it is a root. */
  readonly chain: readonly string[];
  /** From when on all of these are valid. */
  readonly notBefore: Date;
  /** Until when all of these are valid. */
  readonly notAfter: Date;
}

/**
 * Reads a CA and makes sure that clients will trust what it signs, but for the dates, which are the caller's to judge.
 *
 * @throws PkiError
 */
export function readAuthority({ certificate: pem, key: keyPem }: AuthorityPem): Authority {
  const bundle = readCaCertificates(pem);
  const key = readCaKey(keyPem);
  const certificate = ofKey(bundle, key);
  requireAuthority(certificate);
  const chain = chainOf(certificate, bundle);
  const links = [certificate, ...chain];
  return {
    certificate,
    key,
    chain: chain.map((link) => `${link.toString('pem')}\n`),
    notBefore: new Date(Math.max(...links.map((link) => link.notBefore.getTime()))),
    notAfter: new Date(Math.min(...links.map((link) => link.notAfter.getTime()))),
  };
}

/** Each certificate of a CA's file. @throws PkiError if there is none, or one that cannot be read. */
export function readCaCertificates(pem: string): readonly X509Certificate[] {
  const blocks = certificateBlocks(pem);
  if (blocks.length === 0) {
    const isEmpty = pem.trim() === '';
    throw new PkiError(
      isEmpty ? 'CaCertificateMissing' : 'CaCertificateUnreadable',
      isEmpty ? "the CA's certificate is empty" : "the CA's certificate is no PEM",
      "give the tenant's ca.crt",
    );
  }
  return blocks.map((block, index) => {
    try {
      return new X509Certificate(block);
    } catch (error) {
      throw new PkiError(
        'CaCertificateUnreadable',
        `certificate ${index + 1} of ${blocks.length} of the CA cannot be read (${String(error)})`,
        "give the tenant's ca.crt as it was made",
        error,
      );
    }
  });
}

/** Of a CA that was renewed with its key, the one that lasts longest. */
function ofKey(bundle: readonly X509Certificate[], key: KeyObject): X509Certificate {
  const [longest] = bundle
    .filter((certificate) =>
      new NodeCertificate(Buffer.from(certificate.rawData)).checkPrivateKey(key),
    )
    .toSorted((one, other) => other.notAfter.getTime() - one.notAfter.getTime());
  if (longest !== undefined) return longest;
  const names = bundle.map(({ subject }) => `'${subject}'`).join(', ');
  throw new PkiError(
    'CaKeyMismatch',
    `the CA's private key does not belong to its certificate (${names})`,
    'give both of one pair',
  );
}

function requireAuthority(certificate: X509Certificate): void {
  if (certificate.getExtension(BasicConstraintsExtension)?.ca !== true) {
    throw new PkiError(
      'CaNotAuthority',
      `the certificate '${certificate.subject}' is not that of a CA (basicConstraints)`,
      'give the CA that signs the serving certificates of the tenant',
    );
  }
  const usages = certificate.getExtension(KeyUsagesExtension)?.usages;
  // Without the extension everything is allowed; with it, Go and OpenSSL want this one.
  if (usages !== undefined && (usages & KeyUsageFlags.keyCertSign) === 0) {
    throw new PkiError(
      'CaMayNotSign',
      `the key usage of the CA '${certificate.subject}' lacks keyCertSign, so no client trusts what it signs`,
      'make a CA certificate with keyCertSign',
    );
  }
}

/** From this one up to the last that is not signed by itself. */
function chainOf(
  certificate: X509Certificate,
  bundle: readonly X509Certificate[],
): readonly X509Certificate[] {
  const chain: X509Certificate[] = [];
  let next: X509Certificate | undefined = certificate;
  while (next !== undefined && !hasIssuer(next, next) && !chain.includes(next)) {
    chain.push(next);
    const child: X509Certificate = next;
    next = bundle.find((candidate) => hasIssuer(child, candidate));
  }
  return chain;
}

/** By the bytes of the name, as Go compares it; by the key identifiers, as OpenSSL does; and by the signature. */
export function hasIssuer(child: X509Certificate, issuer: X509Certificate): boolean {
  const name = Buffer.from(child.issuerName.toArrayBuffer());
  if (!name.equals(Buffer.from(issuer.subjectName.toArrayBuffer()))) return false;
  const below = new NodeCertificate(Buffer.from(child.rawData));
  const above = new NodeCertificate(Buffer.from(issuer.rawData));
  return below.checkIssued(above) && below.verify(above.publicKey);
}
