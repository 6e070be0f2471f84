/**
 * Findings about the tenant's CA, and about the certificate that it signs for the proxies.
 */
import type { FindingEntry } from './entry.ts';

/** The entries, by code. */
export const CERTIFICATE_FINDINGS = {
  CaCertificateMissing: {
    meaning: "the CA's certificate is empty",
    action: 'put it there as PEM',
  },
  CaCertificateUnreadable: {
    meaning: "the CA's certificate cannot be read",
    action: 'put it there as PEM',
  },
  CaKeyMissing: {
    meaning: 'there is no private key of the CA, and mode Terminate needs one',
    action: 'put the key there, or use worker.mode Passthrough, which needs none',
  },
  CaKeyUnreadable: {
    meaning: "the CA's private key cannot be read",
    action: 'give it as PEM: PKCS#1, SEC1 or PKCS#8',
  },
  CaKeyEncrypted: {
    meaning: "the CA's private key is behind a passphrase",
    action: 'give it in the clear: openssl pkey -in ca.key',
  },
  CaKeyUnsupported: {
    meaning: "the CA's private key is of an algorithm that cannot sign here",
    action: 'use a CA with a key of RSA, P-256, P-384, P-521 or Ed25519',
  },
  CaKeyMismatch: {
    meaning: 'the private key belongs to none of the certificates of the CA',
    action: 'give the key and the certificate of one CA',
  },
  CaNotAuthority: {
    meaning: 'a certificate says itself that it is no CA',
    action: 'give the certificate of the CA',
  },
  CaMayNotSign: {
    meaning: "the CA's key usage does not allow it to sign certificates",
    action: 'give a CA that may',
  },
  CaExpired: {
    meaning: 'the CA has expired',
    action: 'renew the CA of the tenant',
  },
  CaNotYetValid: {
    meaning: 'the CA is valid from a later time on',
    action: 'set the clock of whoever issued it, or of this machine',
  },
  LeafNameInvalid: {
    meaning: 'what was asked for cannot be a name of a certificate',
    action: 'give a DNS name without a dot at its end',
  },
  LeafAddressInvalid: {
    meaning: 'what was asked for is no IP address',
    action: 'give one of IPv4 or IPv6',
  },
  LeafWithoutNames: {
    meaning: 'a certificate without names was asked for',
    action: 'ask for those that pods dial',
  },
} as const satisfies Record<string, FindingEntry>;
