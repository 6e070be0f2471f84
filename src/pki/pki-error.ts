/** Errors of certificates, for the user who owns the CA. */
import type { FindingCode } from '../api/finding-codes/catalog.ts';
import { findingText, type Finding } from '../api/finding.ts';

/** An error with a finding. The message never contains any part of a key. */
export class PkiError extends Error {
  override readonly name = 'PkiError';
  readonly finding: Finding;

  constructor(code: FindingCode, message: string, action: string, cause?: unknown) {
    const finding = { code, severity: 'error', message, action } as const;
    super(findingText(finding), { cause });
    this.finding = finding;
  }
}
