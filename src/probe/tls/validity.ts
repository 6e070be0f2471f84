/**
 * Checks whether a client that trusts the CA would accept a certificate for a host at a time.
 */
import type { X509Certificate } from 'node:crypto';
import type { CertificatePath } from './authorities.ts';
import { sentence } from '../../text/sentence.ts';

/** Below this remaining lifetime, a certificate counts as expiring soon. */
const EXPIRES_SOON_DAYS = 7;

const DAY_MS = 24 * 3600 * 1000;

/** The validity for a client. `certificate` is the invalid or expiring one: the leaf or a signer. */
type Validity =
  | { readonly kind: 'valid'; readonly validUntil: Date }
  | { readonly kind: 'expiresSoon'; readonly certificate: X509Certificate }
  | { readonly kind: 'expired'; readonly certificate: X509Certificate }
  | { readonly kind: 'notYet'; readonly certificate: X509Certificate }
  | { readonly kind: 'nameMissing'; readonly names: readonly string[] };

/** Returns the most severe problem, if any. A path is valid until the first of its certificates expires. */
export function validityOf(path: CertificatePath, host: string, now: Date): Validity {
  const [leaf] = path;
  const first = path.reduce((a, b) => (b.validToDate < a.validToDate ? b : a));
  if (first.validToDate <= now) return { kind: 'expired', certificate: first };
  const early = path.find((certificate) => certificate.validFromDate > now);
  if (early !== undefined) return { kind: 'notYet', certificate: early };
  // Only alternative names, as in Go: a user of a cluster may choose the common name of a client certificate.
  if (leaf.checkHost(host, { subject: 'never' }) === undefined) {
    return { kind: 'nameMissing', names: namesOf(leaf) };
  }
  const leftMs = first.validToDate.getTime() - now.getTime();
  return leftMs < EXPIRES_SOON_DAYS * DAY_MS
    ? { kind: 'expiresSoon', certificate: first }
    : { kind: 'valid', validUntil: first.validToDate };
}

/** Returns the certificate that must be reissued for this host, if any. */
export function invalidCertificate(
  path: CertificatePath,
  host: string,
  now: Date,
): X509Certificate | undefined {
  const validity = validityOf(path, host, now);
  switch (validity.kind) {
    case 'expired':
    case 'notYet':
      return validity.certificate;
    case 'nameMissing':
      return path[0];
    case 'valid':
    case 'expiresSoon':
      return undefined;
  }
}

/** Returns the validity as a sentence with the value. */
export function validityText(validity: Validity, host: string): string {
  switch (validity.kind) {
    case 'valid':
      return `The certificate includes ${host} and is valid until ${validity.validUntil.toISOString()}.`;
    case 'nameMissing':
      return `The certificate does not include ${host}. Its names: ${namesText(validity.names)}.`;
    case 'expiresSoon':
      return sentence(
        `${certificateText(validity.certificate)} expires at ${validity.certificate.validToDate.toISOString()}`,
      );
    case 'expired':
      return sentence(
        `${certificateText(validity.certificate)} expired at ${validity.certificate.validToDate.toISOString()}`,
      );
    case 'notYet':
      return sentence(
        `${certificateText(validity.certificate)} is not valid before ${validity.certificate.validFromDate.toISOString()}`,
      );
  }
}

/** Returns the name of a certificate in messages: `the certificate CN=kube-apiserver issued by CN=kubernetes`. */
export function certificateText({ subject, issuer }: X509Certificate): string {
  return `the certificate ${nameText(subject)} issued by ${nameText(issuer)}`;
}

const MAX_NAME_LENGTH = 200;
const MAX_NAMES = 20;

/** Joins the parts of a name, which Node writes on separate lines. An untrusted name may have any length. */
function nameText(name: string | undefined): string {
  return name ? name.split('\n').join(', ').slice(0, MAX_NAME_LENGTH) : '(no name)';
}

function namesOf({ subjectAltName }: X509Certificate): readonly string[] {
  if (!subjectAltName) return [];
  return subjectAltName.split(', ').map((name) => name.replace(/^[\w ]+:/, ''));
}

function namesText(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const more = names.length - MAX_NAMES;
  return `${names.slice(0, MAX_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
