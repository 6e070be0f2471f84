/**
 * Which Secrets of a namespace hold the CA and the kubeconfig of a tenant, by what is in them. Pure.
 */
import { X509Certificate } from 'node:crypto';
import { AccessError } from '../../kube/access/cluster-access.ts';
import { parseKubeconfig } from '../../kube/access/kubeconfig.ts';
import { disagreement } from '../../providers/reading/authority-agreement.ts';
import { certificatesIn } from '../../providers/reading/authority-certificates.ts';
import type { Secret } from '../../providers/reading/control-plane-reading.ts';
import { textIn } from '../../providers/reading/secret-reading.ts';

/** A kubeconfig in a Secret; the name alone if nobody may look into it. */
export interface KubeconfigSecret {
  readonly name: string;
  readonly key?: string;
  readonly text?: string;
}

/** A CA in a Secret; the name alone if nobody may look into it. */
export interface CaSecret {
  readonly name: string;
  readonly certificateKey?: string;
  readonly privateKeyKey?: string;
  readonly certificate?: string;
}

/** The entries that tools call kubeconfigs by, those of an administrator first. */
const KUBECONFIG_KEYS = ['admin.conf', 'super-admin.conf', 'value', 'kubeconfig', 'config'];

/** The kubeconfig in a Secret; of several, the one that tools mean. */
export function kubeconfigIn(secret: Secret): KubeconfigSecret | undefined {
  const keys = Object.keys(secret.data ?? {});
  const known = KUBECONFIG_KEYS.filter((key) => keys.includes(key));
  const others = keys.filter((key) => !known.includes(key)).toSorted();
  for (const key of [...known, ...others]) {
    const text = textIn(secret, key) ?? '';
    if (isKubeconfig(text)) return { name: secret.metadata.name, key, text };
  }
  return undefined;
}

function isKubeconfig(text: string): boolean {
  // Most Secrets hold something else, which need not be read as YAML.
  if (!text.includes('clusters')) return false;
  try {
    parseKubeconfig(text);
    return true;
  } catch (error) {
    if (error instanceof AccessError) return false;
    throw error;
  }
}

/** Certificate and key: of kubectl and cert-manager, and of kubeadm. */
const CA_KEYS = [
  ['tls.crt', 'tls.key'],
  ['ca.crt', 'ca.key'],
] as const;

/** The CA in a Secret. One that has its key goes before one that has not. */
export function caIn(secret: Secret): CaSecret | undefined {
  const found = CA_KEYS.flatMap(([certificateKey, privateKeyKey]) => {
    const certificate = certificatesIn(textIn(secret, certificateKey) ?? '');
    if (certificate === undefined || !new X509Certificate(certificate).ca) return [];
    return [{ name: secret.metadata.name, certificateKey, privateKeyKey, certificate }];
  });
  return found.find(({ privateKeyKey }) => hasEntry(secret, privateKeyKey)) ?? found[0];
}

function hasEntry({ data = {} }: Secret, key: string): boolean {
  return data[key] !== undefined && data[key] !== '';
}

/** Secrets in the order in which they are likely to be of a control plane. */
export interface Likely<T> {
  readonly all: readonly T[];
  /** The one that it is beyond doubt. */
  readonly sure?: T | undefined;
}

/**
 * The kubeconfigs: one alone, or the one for an administrator that is called like the control plane. Not those that are
 * called like one of its neighbours, of which there are none by default.
 */
export function likelyKubeconfigs(
  secrets: readonly Secret[],
  controlPlane: string,
  neighbours: readonly string[] = [],
): Likely<KubeconfigSecret> {
  const names = [controlPlane, ...neighbours];
  const own = secrets.filter(({ metadata }) => {
    const owner = longest(names.filter((name) => metadata.name.startsWith(`${name}-`)));
    return owner === undefined || owner === controlPlane;
  });
  const all = byLikeness(
    own.flatMap((secret) => kubeconfigIn(secret) ?? []),
    controlPlane,
  );
  const called = all.filter(({ name }) => name.startsWith(`${controlPlane}-`));
  const admins = called.filter(({ name, key }) => /admin/.test(`${name} ${key}`));
  return { all, sure: onlyOne(all) ?? onlyOne(called) ?? onlyOne(admins) };
}

/** The CAs that a kubeconfig trusts; any, if it may not be read. */
export function likelyCas(
  secrets: readonly Secret[],
  controlPlane: string,
  kubeconfig: KubeconfigSecret,
): Likely<CaSecret> {
  const cas = secrets.flatMap((secret) => caIn(secret) ?? []);
  const { text } = kubeconfig;
  const trusted = cas.filter(({ name, certificate = '' }) => {
    if (text === undefined) return true;
    const authority = { key: { name }, text: certificate };
    return disagreement(authority, { key: kubeconfig, text }) === undefined;
  });
  const all = byLikeness(trusted, controlPlane);
  const called = all.filter(({ name }) => name === `${controlPlane}-ca`);
  return { all, sure: onlyOne(all) ?? onlyOne(called) };
}

/** Of `blue` and `blue-2`, the one that `blue-2-kubeconfig` is called by. */
function longest(names: readonly string[]): string | undefined {
  return names.toSorted((a, b) => b.length - a.length)[0];
}

function onlyOne<T>(values: readonly T[]): T | undefined {
  return values.length === 1 ? values[0] : undefined;
}

/** Those that are called like the control plane first. */
function byLikeness<T extends { readonly name: string }>(
  values: readonly T[],
  controlPlane: string,
): readonly T[] {
  const rank = ({ name }: T) => (name.startsWith(`${controlPlane}-`) ? 0 : 1);
  return values.toSorted((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
}
