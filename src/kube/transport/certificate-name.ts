/**
 * Verifies the name of a certificate.
 */
import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';

/**
 * Returns an error unless the name is among the alternative names. Bun has already checked the name, but like Node it
 * accepts the common name of a certificate without alternative names. A user of a cluster may choose the common name of
 * a client certificate. Go does not accept it either.
 */
export function nameFault(certificate: X509Certificate, name: string): Error | undefined {
  const found =
    isIP(name) === 0
      ? certificate.checkHost(name, { subject: 'never' })
      : certificate.checkIP(name);
  if (found !== undefined) return undefined;
  return Object.assign(new Error(`the certificate has no alternative name ${name}`), {
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  });
}
