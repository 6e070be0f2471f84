/**
 * Finds the Secrets of a namespace that hold the CA and the kubeconfig of a tenant, by their content. Pure.
 */
import { X509Certificate } from 'node:crypto';
import { AccessError } from '../../kube/access/cluster-access.ts';
import { parseKubeconfig } from '../../kube/access/kubeconfig.ts';
import { caMismatch } from '../../providers/reading/ca-mismatch.ts';
import { certificatesIn } from '../../providers/reading/authority-certificates.ts';
import type { Secret } from '../../providers/reading/control-plane-reading.ts';
import { textIn } from '../../providers/reading/secret-reading.ts';

/** A kubeconfig in a Secret; only the name if the Secret could not be read. */
export interface KubeconfigSecret {
  readonly name: string;
  readonly key?: string;
  readonly text?: string;
}

/** A CA in a Secret; only the name if the Secret could not be read. */
export interface CaSecret {
  readonly name: string;
  readonly certificateKey?: string;
  readonly privateKeyKey?: string;
  readonly certificate?: string;
}

/** The keys under which tools store kubeconfigs, those of an administrator first. */
const KUBECONFIG_KEYS = ['admin.conf', 'super-admin.conf', 'value', 'kubeconfig', 'config'];

/** Returns the kubeconfig in a Secret. Of several, returns the one with the best-known key. */
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
  // Most Secrets hold something else and need not be parsed as YAML.
  if (!text.includes('clusters')) return false;
  try {
    parseKubeconfig(text);
    return true;
  } catch (error) {
    if (error instanceof AccessError) return false;
    throw error;
  }
}

/** Keys of certificate and private key: of kubectl and cert-manager, and of kubeadm. */
const CA_KEYS = [
  ['tls.crt', 'tls.key'],
  ['ca.crt', 'ca.key'],
] as const;

/** Returns the CA in a Secret. Prefers one with its private key. */
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

/** Secrets that may belong to a control plane, the likeliest first. */
export interface Likely<T> {
  readonly all: readonly T[];
  /** The one to use without asking. */
  readonly sure?: T | undefined;
}

/**
 * Returns the kubeconfigs, without those named after one of the neighbors. `sure` is the only one, the only one named
 * after the control plane, or of these the only one for an administrator. Default: no neighbors.
 */
export function likelyKubeconfigs(
  secrets: readonly Secret[],
  controlPlane: string,
  neighbors: readonly string[] = [],
): Likely<KubeconfigSecret> {
  const names = [controlPlane, ...neighbors];
  const own = secrets.filter(({ metadata }) => {
    const owner = longest(names.filter((name) => metadata.name.startsWith(`${name}-`)));
    return owner === undefined || owner === controlPlane;
  });
  const all = byLikelihood(
    own.flatMap((secret) => kubeconfigIn(secret) ?? []),
    controlPlane,
  );
  const called = all.filter(({ name }) => name.startsWith(`${controlPlane}-`));
  const admins = called.filter(({ name, key }) => /admin/.test(`${name} ${key}`));
  return { all, sure: onlyOne(all) ?? onlyOne(called) ?? onlyOne(admins) };
}

/** Returns the CAs that a kubeconfig trusts; all CAs if the kubeconfig could not be read. */
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
    return caMismatch(authority, { key: kubeconfig, text }) === undefined;
  });
  const all = byLikelihood(trusted, controlPlane);
  const called = all.filter(({ name }) => name === `${controlPlane}-ca`);
  return { all, sure: onlyOne(all) ?? onlyOne(called) };
}

/** Returns the longest name: of `blue` and `blue-2`, `blue-2-kubeconfig` is named after the second. */
function longest(names: readonly string[]): string | undefined {
  return names.toSorted((a, b) => b.length - a.length)[0];
}

function onlyOne<T>(values: readonly T[]): T | undefined {
  return values.length === 1 ? values[0] : undefined;
}

/** Returns the values sorted, those named after the control plane first. */
function byLikelihood<T extends { readonly name: string }>(
  values: readonly T[],
  controlPlane: string,
): readonly T[] {
  const rank = ({ name }: T) => (name.startsWith(`${controlPlane}-`) ? 0 : 1);
  return values.toSorted((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
}
