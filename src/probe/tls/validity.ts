/**
 * Whether a client would take a certificate for a host at this time, given that it trusts the CA.
 */
import type { X509Certificate } from 'node:crypto';
import type { CertificatePath } from './authorities.ts';

/** A certificate is to be renewed before it has less than this left. */
const EXPIRES_SOON_DAYS = 7;

const DAY_MS = 24 * 3600 * 1000;

/** What a client would say. `certificate` is the one it is about: the leaf, or one of those who signed. */
export type Validity =
  | { readonly kind: 'valid'; readonly until: Date }
  | { readonly kind: 'expiresSoon'; readonly certificate: X509Certificate }
  | { readonly kind: 'expired'; readonly certificate: X509Certificate }
  | { readonly kind: 'notYet'; readonly certificate: X509Certificate }
  | { readonly kind: 'nameMissing'; readonly names: readonly string[] };

/** The first thing that is wrong, the gravest first. A path is no better than the one on it that ends first. */
export function validityOf(path: CertificatePath, host: string, now: Date): Validity {
  const [leaf] = path;
  const first = path.reduce((a, b) => (b.validToDate < a.validToDate ? b : a));
  if (first.validToDate <= now) return { kind: 'expired', certificate: first };
  const early = path.find((certificate) => certificate.validFromDate > now);
  if (early !== undefined) return { kind: 'notYet', certificate: early };
  // Alternative names only, as Go does it: whoever may sign up as a user of a cluster chooses a common name.
  if (leaf.checkHost(host, { subject: 'never' }) === undefined) {
    return { kind: 'nameMissing', names: namesOf(leaf) };
  }
  const leftMs = first.validToDate.getTime() - now.getTime();
  return leftMs < EXPIRES_SOON_DAYS * DAY_MS
    ? { kind: 'expiresSoon', certificate: first }
    : { kind: 'valid', until: first.validToDate };
}

/** The certificate that has to be made anew for this host, if one has to. */
export function faultyCertificate(
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

/** What a client would say, as a clause with the value. */
export function validityText(validity: Validity, host: string): string {
  switch (validity.kind) {
    case 'valid':
      return `the certificate has the name ${host} and is good until ${validity.until.toISOString()}`;
    case 'nameMissing':
      return `the certificate lacks ${host}; it has ${namesText(validity.names)}`;
    case 'expiresSoon':
      return `${certificateText(validity.certificate)} expires at ${validity.certificate.validToDate.toISOString()}`;
    case 'expired':
      return `${certificateText(validity.certificate)} expired at ${validity.certificate.validToDate.toISOString()}`;
    case 'notYet':
      return `${certificateText(validity.certificate)} is not valid before ${validity.certificate.validFromDate.toISOString()}`;
  }
}

/** As messages name a certificate: `the certificate of CN=kube-apiserver by CN=kubernetes`. */
export function certificateText({ subject, issuer }: X509Certificate): string {
  return `the certificate of ${nameText(subject)} by ${nameText(issuer)}`;
}

const MAX_NAME_LENGTH = 200;
const MAX_NAMES = 20;

/** Node writes each part of a name on a line of its own. A stranger's name may be of any length. */
function nameText(name: string | undefined): string {
  return name ? name.split('\n').join(', ').slice(0, MAX_NAME_LENGTH) : 'nobody';
}

function namesOf({ subjectAltName }: X509Certificate): readonly string[] {
  if (!subjectAltName) return [];
  return subjectAltName.split(', ').map((name) => name.replace(/^[\w ]+:/, ''));
}

function namesText(names: readonly string[]): string {
  if (names.length === 0) return 'no names';
  const more = names.length - MAX_NAMES;
  return `${names.slice(0, MAX_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
