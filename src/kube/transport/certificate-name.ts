/**
 * Whether a certificate has the name that was asked for.
 */
import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';

/**
 * What is wrong with the name; nothing if it is among the alternative ones. Bun has looked already, but like Node it
 * takes the common name where a certificate has no alternative name, and whoever may sign up as a user of a cluster
 * chooses a common name. Go does not take it either.
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
