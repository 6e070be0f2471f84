/**
 * Why a certificate cannot be made or read, for the person who holds the CA.
 */
import { findingText, type Finding } from '../api/finding.ts';

/**
 * The codes:
 * - `CaCertificateMissing`, `CaCertificateUnreadable`, `CaKeyMissing`, `CaKeyUnreadable`: empty, or no PEM of that kind
 * - `CaKeyEncrypted`: behind a passphrase
 * - `CaKeyUnsupported`: of an algorithm that cannot sign here
 * - `CaKeyMismatch`: the key belongs to none of the certificates
 * - `CaNotAuthority`: a certificate that says itself that it is no CA
 * - `CaMayNotSign`: a CA whose key usage does not allow to sign certificates
 * - `CaExpired`, `CaNotYetValid`
 * - `LeafNameInvalid`, `LeafAddressInvalid`, `LeafWithoutNames`: what was asked for cannot be in a certificate
 */
export const PKI_ERROR_CODES = [
  'CaCertificateMissing',
  'CaCertificateUnreadable',
  'CaKeyMissing',
  'CaKeyUnreadable',
  'CaKeyEncrypted',
  'CaKeyUnsupported',
  'CaKeyMismatch',
  'CaNotAuthority',
  'CaMayNotSign',
  'CaExpired',
  'CaNotYetValid',
  'LeafNameInvalid',
  'LeafAddressInvalid',
  'LeafWithoutNames',
] as const;
/** One of {@link PKI_ERROR_CODES}. */
export type PkiErrorCode = (typeof PKI_ERROR_CODES)[number];

/** A refusal. Nothing of a key is ever in its sentence. */
export class PkiError extends Error {
  override readonly name = 'PkiError';
  readonly finding: Finding & { readonly code: PkiErrorCode };

  constructor(code: PkiErrorCode, message: string, action: string, cause?: unknown) {
    const finding = { code, severity: 'error', message, action } as const;
    super(findingText(finding), { cause });
    this.finding = finding;
  }
}
