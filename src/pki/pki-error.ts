/** Errors of certificates, for the user who owns the CA. */
import { findingText, type Finding } from '../api/finding.ts';

/**
 * The codes:
 * - `CaCertificateInvalid`, `CaKeyMissing`, `CaKeyUnreadable`: empty, or not a PEM of that
 * kind
 * - `CaKeyEncrypted`: protected by a passphrase
 * - `CaKeyUnsupported`: an algorithm that cannot sign here
 * - `CaKeyMismatch`: the key belongs to none of the certificates
 * - `CaNotCertificateAuthority`: the certificate is not that of a CA
 * - `CaCannotSign`: the key usage of the CA does not allow signing certificates
 * - `CaExpired`, `CaNotYetValid`
 * - `LeafNameInvalid`: the requested names cannot be in a certificate
 */
export const PKI_ERROR_CODES = [
  'CaCertificateInvalid',
  'CaKeyMissing',
  'CaKeyUnreadable',
  'CaKeyEncrypted',
  'CaKeyUnsupported',
  'CaKeyMismatch',
  'CaNotCertificateAuthority',
  'CaCannotSign',
  'CaExpired',
  'CaNotYetValid',
  'LeafNameInvalid',
] as const;
/** One of {@link PKI_ERROR_CODES}. */
export type PkiErrorCode = (typeof PKI_ERROR_CODES)[number];

/** An error with a finding. The message never contains any part of a key. */
export class PkiError extends Error {
  override readonly name = 'PkiError';
  readonly finding: Finding & { readonly code: PkiErrorCode };

  constructor(code: PkiErrorCode, message: string, action: string, cause?: unknown) {
    const finding = { code, severity: 'error', message, action } as const;
    super(findingText(finding), { cause });
    this.finding = finding;
  }
}
