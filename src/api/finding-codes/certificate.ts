/**
 * Findings about the tenant's CA, and about the certificate that it signs for the proxies.
 */
import type { FindingEntry } from './entry.ts';

/** The entries, by code. */
export const CERTIFICATE_FINDINGS = {
  CaKeyMissing: {
    meaning: 'The CA has no private key, but mode Terminate requires one.',
    action: 'Add the key, or use worker.mode Passthrough, which does not need it.',
  },
  CaInvalid: {
    meaning:
      "The CA's certificate is empty, cannot be read, or is not that of a CA that can sign certificates.",
    action: 'Provide the certificate of the CA as PEM. Its key usage must allow keyCertSign.',
  },
  CaKeyInvalid: {
    meaning:
      "The CA's private key cannot be read or used: it is encrypted, has an unsupported algorithm, or belongs to another certificate.",
    action:
      "Provide the key of the CA's certificate as PEM (PKCS#1, SEC1 or PKCS#8, RSA, P-256, P-384, P-521 or Ed25519), without a passphrase.",
  },
  CertificateExpired: {
    meaning: 'A certificate has expired, so every client that verifies it rejects the connection.',
    action: 'Renew {certificate}.',
  },
  CertificateNotYetValid: {
    meaning: 'A certificate becomes valid later: one of two clocks is wrong.',
    action: 'Correct the clock of the issuer of {certificate}, or that of this machine.',
  },
} as const satisfies Record<string, FindingEntry>;
