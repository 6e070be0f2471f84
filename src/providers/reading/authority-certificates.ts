/**
 * The CA certificates in a PEM text of a user.
 */
import { X509Certificate } from 'node:crypto';

/** A CA bundle during a rotation has two or three certificates. */
const MAX_CERTIFICATES = 16;
const MAX_LENGTH = 64 * 1024;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/**
 * Returns the certificates in normalized PEM, without keys or comments next to them: the result is given to every pod
 * of the tenant. Undefined if there are none, or more than any CA has.
 */
export function certificatesIn(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const found = (text.match(CERTIFICATE) ?? []).flatMap((block) => certificateIn(block) ?? []);
  if (found.length === 0 || found.length > MAX_CERTIFICATES) return undefined;
  return found.map((certificate) => `${certificate.toString().trim()}\n`).join('');
}

function certificateIn(block: string): X509Certificate | undefined {
  try {
    return new X509Certificate(block);
  } catch {
    // OpenSSL cannot parse this block. The caller reports it if there is no other certificate.
    return undefined;
  }
}
