/**
 * certificate: it has the name of the API host and is currently valid.
 */
import { hopResult, type HopResult } from '../hop.ts';
import type { CertificatePath } from '../tls/authorities.ts';
import { certificateText, validityOf, validityText } from '../tls/validity.ts';

const CODES = {
  expiresSoon: 'CertificateExpiresSoon',
  expired: 'CertificateExpired',
  notYet: 'CertificateNotYetValid',
} as const;

/** Returns the result for a certificate of the tenant's CA. */
export function judgeCertificate(path: CertificatePath, host: string, now: Date): HopResult {
  const validity = validityOf(path, host, now);
  const message = validityText(validity, host);
  switch (validity.kind) {
    case 'valid':
      return hopResult('certificate', 'Passed', host, message);
    case 'nameMissing':
      return hopResult('certificate', 'CertificateNameMissing', host, message, { host });
    case 'expiresSoon':
    case 'expired':
    case 'notYet': {
      const certificate = certificateText(validity.certificate);
      return hopResult('certificate', CODES[validity.kind], host, message, { certificate });
    }
  }
}
