/**
 * The credentials of proxies as the operator would find them, for whoever only shows what it would do: what would be
 * made anew is a text that says so.
 */
import type { WorkerMode } from '../../api/exposure.ts';
import { KeyFileError } from '../../wire/master-keys.ts';
import { placeholder } from '../../plan/placeholder.ts';
import type { CredentialsSource } from '../observe.ts';
import type { ManagementPlace } from '../../management/management-view.ts';
import { GATEWAY_KEYS, readMasterKeys } from '../../management/master-keys.ts';
import { credentialsFor, type CredentialsFound } from './credentials.ts';

/** A source that keeps nothing of what it makes. @throws KubeError */
export async function foreseenCredentials(
  place: ManagementPlace,
  mode: WorkerMode,
  signal: AbortSignal,
): Promise<CredentialsSource> {
  return mode === 'Passthrough' ? foreseenKey(place, signal) : foreseenLeaf;
}

const foreseenLeaf: CredentialsSource = async (input) => {
  const noKeys = async () => Promise.reject(new TypeError('this mode has no key of the gateway'));
  // A certificate that is due is really made, and dropped: whether the CA can sign it is worth knowing.
  const found = await credentialsFor({ ...input, masterKeys: noKeys });
  if (found.reissued === undefined) return found;
  const certificate = placeholder(`a new certificate: ${found.reissued}`);
  return { ...found, credentials: { certificate, key: placeholder('the key of the new one') } };
};

async function foreseenKey(
  { management, namespace }: ManagementPlace,
  signal: AbortSignal,
): Promise<CredentialsSource> {
  const always = (found: CredentialsFound) => async () => Promise.resolve(found);
  try {
    const keys = await readMasterKeys(management.client, namespace, signal);
    if (keys !== undefined) {
      return async (input) =>
        credentialsFor({ ...input, masterKeys: async () => Promise.resolve(keys) });
    }
    const reissued = `there is no Secret ${namespace}/${GATEWAY_KEYS.name} yet, which the operator makes`;
    return always({ credentials: { tenantKey: placeholder(`a new key: ${reissued}`) }, reissued });
  } catch (error) {
    if (!(error instanceof KeyFileError)) throw error;
    const { message } = error;
    const action = 'correct the Secret';
    return always({
      finding: { code: 'GatewayKeysUnusable', severity: 'error', message, action },
    });
  }
}
