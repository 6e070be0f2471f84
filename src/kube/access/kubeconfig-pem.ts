/**
 * Validates PEM from untrusted sources before it is used. TLS itself would only report that the connection failed.
 */
import { createSecureContext } from 'node:tls';
import { AccessError } from './cluster-access.ts';

/** Returns the PEM if it contains certificates. @throws AccessError that names `where` */
export function certificatesIn(pem: string, where: string): string {
  if (!pem.includes('-----BEGIN CERTIFICATE-----') || !isAccepted({ ca: pem })) {
    throw new AccessError('AccessInvalid', `${where} contains no PEM certificate`);
  }
  return pem;
}

/** Checks that a certificate and a key belong together. @throws AccessError if they do not, or if either is invalid */
export function requirePair(cert: string, key: string, where: string): void {
  if (isAccepted({ cert, key })) return;
  throw new AccessError(
    'AccessInvalid',
    `the client certificate and the client key of ${where} do not match; both must be PEM, and the key must belong to the certificate`,
  );
}

function isAccepted(options: Parameters<typeof createSecureContext>[0]): boolean {
  try {
    createSecureContext(options);
    return true;
  } catch {
    // BoringSSL reports only an error number. The caller describes the problem.
    return false;
  }
}
