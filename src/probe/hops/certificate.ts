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

/** Returns the result for a certificate of the tenant's CA, which konnectivity checks too. */
export function judgeCertificate(
  path: CertificatePath,
  host: string,
  now: Date,
  {
    name,
    target,
  }: Pick<HopResult, 'target'> & { readonly name: 'certificate' | 'konnectivity' } = {
    name: 'certificate',
    target: host,
  },
): HopResult {
  const validity = validityOf(path, host, now);
  const message = validityText(validity, host);
  switch (validity.kind) {
    case 'valid':
      return hopResult(name, 'Passed', target, message);
    case 'nameMissing':
      return hopResult(name, 'CertificateNameMissing', target, message, { host });
    case 'expiresSoon':
    case 'expired':
    case 'notYet': {
      const certificate = certificateText(validity.certificate);
      return hopResult(name, CODES[validity.kind], target, message, { certificate });
    }
  }
}
