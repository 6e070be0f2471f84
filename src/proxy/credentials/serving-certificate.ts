/** The certificate and key that the proxy presents to pods. */
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { certificateBlocks } from '../../wire/pem.ts';

/** A certificate and its key. */
export interface ServingCertificate {
  /** The chain as PEM, the leaf first. */
  readonly certificate: string;
  /** The key as PEM. Must not be logged. */
  readonly key: string;
  readonly notBeforeSeconds: number;
  readonly notAfterSeconds: number;
  /** Identifies the certificate in logs. */
  readonly serialNumber: string;
}

/**
 * Parses a certificate and its key, and checks that they match. TLS itself would only report a mismatch to the first
 * pod.
 *
 * @throws Error with a message that contains no part of the key.
 */
export function parseServingCertificate(
  certificate: Buffer,
  key: Buffer,
  paths: { readonly certificate: string; readonly key: string },
): ServingCertificate {
  const leaf = parseLeaf(certificate, paths.certificate);
  const secret = parseKey(key, paths.key);
  if (!leaf.checkPrivateKey(secret)) {
    throw new Error(
      `the key in ${paths.key} does not match the certificate in ${paths.certificate}; use a matching pair`,
    );
  }
  return {
    certificate: certificate.toString('latin1'),
    key: secret.export({ type: 'pkcs8', format: 'pem' }).toString(),
    notBeforeSeconds: Date.parse(leaf.validFrom) / 1000,
    notAfterSeconds: Date.parse(leaf.validTo) / 1000,
    serialNumber: leaf.serialNumber,
  };
}

/**
 * Appends the issuer to the certificate, if the file has only the leaf and one of the authorities has issued it.
 *
 * Pods do not need the issuer. But without it, BoringSSL searches the files of the system for the issuer in each
 * handshake: four failed `open` calls.
 */
export function withIssuer(serving: ServingCertificate, authorities: string): ServingCertificate {
  if (certificateBlocks(serving.certificate).length > 1) return serving;
  const leaf = new X509Certificate(serving.certificate);
  const issuer = certificateBlocks(authorities).find((block) => {
    const authority = new X509Certificate(block);
    return leaf.checkIssued(authority) && leaf.verify(authority.publicKey);
  });
  if (issuer === undefined) return serving;
  return { ...serving, certificate: `${serving.certificate.trimEnd()}\n${issuer}\n` };
}

/** Returns why the certificate is not valid at this time, as a message with its dates. Undefined if it is valid. */
export function validityProblem(
  serving: ServingCertificate,
  nowSeconds: number,
): string | undefined {
  const { notBeforeSeconds, notAfterSeconds } = serving;
  const isEarly = nowSeconds < notBeforeSeconds;
  if (!isEarly && nowSeconds <= notAfterSeconds) return undefined;
  const dates = `valid from ${isoTime(notBeforeSeconds)} to ${isoTime(notAfterSeconds)}`;
  return `the serving certificate ${isEarly ? 'is not valid yet' : 'has expired'} (${dates}), so pods reject it; renew it, or check the clock`;
}

function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

function parseLeaf(bytes: Buffer, path: string): X509Certificate {
  try {
    return new X509Certificate(bytes);
  } catch (error) {
    throw new Error(
      `${path} contains no valid certificate (${messageOf(error)}); provide a PEM certificate, the leaf first`,
      { cause: error },
    );
  }
}

function parseKey(bytes: Buffer, path: string): KeyObject {
  try {
    return createPrivateKey(bytes);
  } catch (error) {
    throw new Error(
      `${path} contains no valid private key (${messageOf(error)}); provide a PEM key without a passphrase`,
      { cause: error },
    );
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
