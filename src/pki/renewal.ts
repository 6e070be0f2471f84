/** Decides when and why to reissue a leaf. */
import 'reflect-metadata'; // must come before x509, which needs it at import
import { SubjectAlternativeNameExtension, X509Certificate } from '@peculiar/x509';
import { createPrivateKey, X509Certificate as NodeCertificate } from 'node:crypto';
import { certificateBlocks } from '../wire/pem.ts';
import { hasIssuer, readAuthority, type Authority, type AuthorityPem } from './authority.ts';
import { normalNames, normalText, type LeafNames } from './leaf-names.ts';

/** The dates of a certificate. */
interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** The current leaf and its desired state. */
export interface LeafState extends LeafNames {
  /** PEM with its chain, or undefined if there is no certificate yet. */
  readonly certificate: string | undefined;
  readonly key: string | undefined;
  readonly ca: AuthorityPem;
}

/** Why a leaf has to be reissued. */
interface ReissueReason {
  readonly code:
    | 'LeafAbsent'
    | 'LeafUnreadable'
    | 'LeafKeyMismatch'
    | 'LeafCaChanged'
    | 'LeafNamesDiffer'
    | 'LeafNotYetValid'
    | 'LeafDue';
  /** A sentence with the values. */
  readonly message: string;
}

/**
 * Returns the time of renewal: after this fraction of the lifetime. The default is two thirds, which leaves 30 of 90
 * days to fix problems.
 */
export function renewalTime({ notBefore, notAfter }: Validity, fraction = 2 / 3): Date {
  const lifetimeMs = notAfter.getTime() - notBefore.getTime();
  return new Date(notBefore.getTime() + lifetimeMs * fraction);
}

/**
 * Returns why the leaf has to be reissued at this time, or undefined if it is valid.
 *
 * @throws PkiError if the CA or the desired names are invalid.
 */
export function reasonToReissue(state: LeafState, now: Date): ReissueReason | undefined {
  const authority = readAuthority(state.ca);
  const wanted = normalNames(state);
  if (!hasText(state.certificate) || !hasText(state.key)) {
    return { code: 'LeafAbsent', message: 'there is no certificate yet' };
  }
  const read = readLeaf(state.certificate, state.key);
  if ('code' in read) return read;
  return (
    authorityReason(read, authority) ??
    namesReason(read.leaf, wanted) ??
    datesReason(read.leaf, authority, now)
  );
}

function hasText(pem: string | undefined): pem is string {
  return pem !== undefined && pem.trim() !== '';
}

interface ServedLeaf {
  readonly leaf: X509Certificate;
  /** The certificates sent after the leaf. */
  readonly chain: readonly X509Certificate[];
}

function readLeaf(pem: string, key: string): ServedLeaf | ReissueReason {
  try {
    const [first = '', ...others] = certificateBlocks(pem);
    const leaf = new X509Certificate(first);
    const chain = others.map((block) => new X509Certificate(block));
    if (new NodeCertificate(first).checkPrivateKey(createPrivateKey(key))) return { leaf, chain };
    const message = `the key does not belong to certificate ${leaf.serialNumber}`;
    return { code: 'LeafKeyMismatch', message };
  } catch (error) {
    // A new leaf fixes any error. The messages of these parsers contain nothing of the key.
    const message = `the certificate or its key cannot be read (${String(error)})`;
    return { code: 'LeafUnreadable', message };
  }
}

function authorityReason(served: ServedLeaf, authority: Authority): ReissueReason | undefined {
  const { subject } = authority.certificate;
  if (!hasIssuer(served.leaf, authority.certificate)) {
    const message = `the certificate of issuer '${served.leaf.issuer}' is not signed by the current CA '${subject}'`;
    return { code: 'LeafCaChanged', message };
  }
  const behind = served.chain.map((link) => `${link.toString('pem')}\n`).join('');
  if (behind === authority.chain.join('')) return undefined;
  const message = `the chain does not have the intermediates of the current CA '${subject}'`;
  return { code: 'LeafCaChanged', message };
}

function namesReason(leaf: X509Certificate, wanted: LeafNames): ReissueReason | undefined {
  const extension = leaf.getExtension(SubjectAlternativeNameExtension);
  const present = new Set(extension?.names.items.map(({ value }) => normalText(value)));
  const needed = new Set([...wanted.names, ...wanted.addresses]);
  const missing = [...needed.difference(present)];
  const unwanted = [...present.difference(needed)];
  if (missing.length + unwanted.length === 0) return undefined;
  const parts = [
    ...(missing.length === 0 ? [] : [`lacks ${missing.join(', ')}`]),
    ...(unwanted.length === 0 ? [] : [`still has ${unwanted.join(', ')}`]),
  ];
  return { code: 'LeafNamesDiffer', message: `the certificate ${parts.join(' and ')}` };
}

function datesReason(leaf: Validity, authority: Authority, now: Date): ReissueReason | undefined {
  if (now < leaf.notBefore) {
    const message = `the certificate is not valid before ${leaf.notBefore.toISOString()}: a clock was wrong when it was issued`;
    return { code: 'LeafNotYetValid', message };
  }
  if (now < renewalTime(leaf)) return undefined;
  // A new leaf would also expire with the CA. Renewing it after two thirds of the remaining time, again and again,
  // gains nothing.
  const isCut = leaf.notAfter >= authority.notAfter;
  if (isCut && now < leaf.notAfter) return undefined;
  const message = `the certificate expires at ${leaf.notAfter.toISOString()} and was due for renewal at ${renewalTime(leaf).toISOString()}`;
  return { code: 'LeafDue', message };
}
