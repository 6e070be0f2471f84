/**
 * The certificates in a PEM text that a user put somewhere: those, and nothing else of it.
 */
import { X509Certificate } from 'node:crypto';

/** A bundle of CAs in rotation has two or three. */
const MAX_CERTIFICATES = 16;
const MAX_LENGTH = 64 * 1024;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/**
 * The certificates, encoded anew; a key or a remark next to them is left out, since what comes from here is handed to
 * every pod of the tenant. Undefined if there are none, or more than any CA has.
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
    // One that cannot be read by OpenSSL is of no use to anybody; the caller says so if there is no other.
    return undefined;
  }
}
