/**
 * Reads a CA and a kubeconfig from Secrets.
 */
import { keyText, type ObjectKey } from '../../kube/object.ts';
import type { AuthorityFiles } from '../../plan/control-plane.ts';
import type { Finding } from '../../api/finding.ts';
import { certificatesIn } from './authority-certificates.ts';
import type { ControlPlaneObjects, Secret } from './control-plane-reading.ts';

/** A value, or the finding about why it could not be read. */
interface Reading<T> {
  readonly value?: T;
  readonly finding?: Finding;
}

/** The keys of a CA in a Secret. */
export interface AuthorityKeys {
  readonly certificateKey: string;
  readonly privateKeyKey: string;
}

/**
 * Reads the CA in a Secret, which may lack the private key. `remedy` is the action for a missing or incomplete Secret.
 */
export async function readAuthority(
  key: ObjectKey,
  keys: AuthorityKeys,
  objects: ControlPlaneObjects,
  remedy: SecretRemedy,
): Promise<Reading<AuthorityFiles>> {
  const secret = await objects.secret(key);
  const entry = secret?.data?.[keys.certificateKey];
  if (entry === undefined) {
    return { finding: secretMissing(key, keys.certificateKey, secret, remedy) };
  }
  const text = Buffer.from(entry, 'base64').toString();
  const certificate = secret?.isAssumed === true ? text : certificatesIn(text);
  if (certificate === undefined) return { finding: unreadable(key, keys.certificateKey) };
  const privateKey = textIn(secret, keys.privateKeyKey);
  return { value: { certificate, key: privateKey } };
}

/** Reads a text in a Secret. */
export async function readText(
  key: ObjectKey,
  entry: string,
  objects: ControlPlaneObjects,
  remedy: SecretRemedy,
): Promise<Reading<string>> {
  const secret = await objects.secret(key);
  const value = textIn(secret, entry);
  return value === undefined ? { finding: secretMissing(key, entry, secret, remedy) } : { value };
}

/** The actions for a missing Secret and for a missing key of it. */
export interface SecretRemedy {
  readonly secret: string;
  readonly entry: string;
}

/** Returns the text of a key; undefined if it is missing or empty. */
export function textIn(secret: Secret | undefined, entry: string): string | undefined {
  const value = secret?.data?.[entry];
  return value === undefined || value === '' ? undefined : Buffer.from(value, 'base64').toString();
}

/** Returns the message that a key is missing or empty. */
export function entryMissing(key: ObjectKey, entry: string, { data = {} }: Secret): string {
  if (data[entry] === '') return `Entry '${entry}' of Secret ${keyText(key)} is empty.`;
  const present = Object.keys(data).join(', ') || 'none';
  return `Secret ${keyText(key)} has no entry '${entry}' (it has ${present}).`;
}

function secretMissing(
  key: ObjectKey,
  entry: string,
  secret: Secret | undefined,
  remedy: SecretRemedy,
): Finding {
  return secret === undefined
    ? {
        code: 'SecretMissing',
        severity: 'error',
        message: `Secret ${keyText(key)} does not exist.`,
        action: remedy.secret,
      }
    : {
        code: 'SecretInvalid',
        severity: 'error',
        message: entryMissing(key, entry, secret),
        action: remedy.entry,
      };
}

/** The message does not quote the content, which may be a private key. */
function unreadable(key: ObjectKey, entry: string): Finding {
  return {
    code: 'CaInvalid',
    severity: 'error',
    message: `Entry '${entry}' of Secret ${keyText(key)} has no readable certificate, or too many certificates.`,
    action:
      'Store the certificate of the CA there as PEM (at most 16 certificates and 64 KB of text).',
  };
}
