/**
 * Findings about the tenant's CA, and about the certificate that it signs for the proxies.
 */
import type { FindingEntry } from './entry.ts';

/** The entries, by code. */
export const CERTIFICATE_FINDINGS = {
  CaCertificateInvalid: {
    meaning: "The CA's certificate is empty or cannot be read.",
    action: 'Provide it as PEM.',
  },
  CaKeyMissing: {
    meaning: 'The CA has no private key, but mode Terminate requires one.',
    action: 'Add the key, or use worker.mode Passthrough, which does not need it.',
  },
  CaKeyUnreadable: {
    meaning: "The CA's private key cannot be read.",
    action: 'Provide it as PEM: PKCS#1, SEC1 or PKCS#8.',
  },
  CaKeyEncrypted: {
    meaning: "The CA's private key is encrypted with a passphrase.",
    action: 'Decrypt it: openssl pkey -in ca.key',
  },
  CaKeyUnsupported: {
    meaning: "The algorithm of the CA's private key is not supported.",
    action: 'Use a CA with an RSA, P-256, P-384, P-521 or Ed25519 key.',
  },
  CaKeyMismatch: {
    meaning: 'The private key belongs to none of the certificates of the CA.',
    action: 'Provide the key and the certificate of the same CA.',
  },
  CaNotCertificateAuthority: {
    meaning: 'A certificate is not a CA certificate.',
    action: 'Provide the certificate of the CA.',
  },
  CaCannotSign: {
    meaning: "The CA's key usage does not allow it to sign certificates.",
    action: 'Use a CA certificate with keyCertSign.',
  },
  CaExpired: {
    meaning: 'The CA has expired.',
    action: 'Renew the CA of the tenant.',
  },
  CaNotYetValid: {
    meaning: 'The CA is not valid yet.',
    action: 'Correct the clock of the issuer or of this machine.',
  },
  LeafNameInvalid: {
    meaning:
      'The requested names or addresses are invalid in a certificate, or none was requested.',
    action: 'Use the DNS names and IP addresses that pods dial, without a trailing dot.',
  },
} as const satisfies Record<string, FindingEntry>;
