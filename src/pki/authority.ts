/** Reads a tenant's CA from its Secret: one or several certificates, and the key of one of them. */
import 'reflect-metadata'; // must come before x509, which needs it at import
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
  /** One or several certificates: two roots during a CA rotation, or an intermediate with its issuers. */
  readonly certificate: string;
  readonly key: string;
}

/** A CA that can sign. */
export interface Authority {
  /** The certificate that the key belongs to. */
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
  /**
   * The certificates that a server must send after its leaf, as PEM: this CA and its issuers, without the root. Empty
   * if this CA is a root.
   */
  readonly chain: readonly string[];
  /** Start of the time in which all of these are valid. */
  readonly notBefore: Date;
  /** End of the time in which all of these are valid. */
  readonly notAfter: Date;
}

/**
 * Reads a CA and checks that clients will trust its signatures. Does not check the dates.
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

/** Returns the certificates of a CA's file. @throws PkiError if there are none, or if one is invalid. */
export function readCaCertificates(pem: string): readonly X509Certificate[] {
  const blocks = certificateBlocks(pem);
  if (blocks.length === 0) {
    const isEmpty = pem.trim() === '';
    throw new PkiError(
      'CaInvalid',
      isEmpty ? "The CA's certificate is empty." : "The CA's certificate is not PEM.",
      "Provide the tenant's ca.crt.",
    );
  }
  return blocks.map((block, index) => {
    try {
      return new X509Certificate(block);
    } catch (error) {
      throw new PkiError(
        'CaInvalid',
        `Certificate ${index + 1} of ${blocks.length} of the CA cannot be read (${String(error)}).`,
        "Provide the tenant's ca.crt unchanged.",
        error,
      );
    }
  });
}

/**
 * Returns the certificate that belongs to the key. If a CA was renewed with the same key, returns the one that is valid
 * longest.
 */
function ofKey(bundle: readonly X509Certificate[], key: KeyObject): X509Certificate {
  const [longest] = bundle
    .filter((certificate) =>
      new NodeCertificate(Buffer.from(certificate.rawData)).checkPrivateKey(key),
    )
    .toSorted((a, b) => b.notAfter.getTime() - a.notAfter.getTime());
  if (longest !== undefined) return longest;
  const names = bundle.map(({ subject }) => `'${subject}'`).join(', ');
  throw new PkiError(
    'CaKeyInvalid',
    `The CA's private key does not belong to its certificate (${names}).`,
    'Provide the key and the certificate of the same CA.',
  );
}

function requireAuthority(certificate: X509Certificate): void {
  if (certificate.getExtension(BasicConstraintsExtension)?.ca !== true) {
    throw new PkiError(
      'CaInvalid',
      `Certificate '${certificate.subject}' is not a CA certificate (basicConstraints).`,
      "Provide the CA that signs the tenant's serving certificates.",
    );
  }
  const usages = certificate.getExtension(KeyUsagesExtension)?.usages;
  // Without the extension every usage is allowed. With it, Go and OpenSSL require keyCertSign.
  if (usages !== undefined && (usages & KeyUsageFlags.keyCertSign) === 0) {
    throw new PkiError(
      'CaInvalid',
      `The key usage of CA '${certificate.subject}' lacks keyCertSign, so clients do not trust certificates that it signs.`,
      'Use a CA certificate with keyCertSign.',
    );
  }
}

/** Returns the chain from this certificate up to the last one that is not self-signed. */
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

/**
 * Whether the issuer has signed the child. Compares the bytes of the name as Go does, the key identifiers as OpenSSL
 * does, and verifies the signature.
 */
export function hasIssuer(child: X509Certificate, issuer: X509Certificate): boolean {
  const name = Buffer.from(child.issuerName.toArrayBuffer());
  if (!name.equals(Buffer.from(issuer.subjectName.toArrayBuffer()))) return false;
  const below = new NodeCertificate(Buffer.from(child.rawData));
  const above = new NodeCertificate(Buffer.from(issuer.rawData));
  return below.checkIssued(above) && below.verify(above.publicKey);
}
