/**
 * Secrets that a provider does not update when its object changes, but creates again when they are deleted: in Kamaji
 * 1.0 the certificate of the API server and a kubeconfig, in Steward 0.3 a kubeconfig. Newer versions also support an
 * annotation. All versions support deletion.
 */
import type { KubeObject, ObjectKey } from '../../kube/object.ts';
import type { ProvidedFacts, Secret } from './control-plane-reading.ts';
import { serverIn } from './kubeconfig-server.ts';
import type { PreparationSpec } from '../preparation/preparation.ts';
import { isServerFor, lackingHosts } from './published-server.ts';
import { textIn } from './secret-reading.ts';

/** A Secret that may have to be renewed. */
export interface RenewableSecret {
  readonly key: ObjectKey;
  /** The object that the provider created it for, which owns it. */
  readonly owner: KubeObject;
  /** Whether clients depend on it. A kubeconfig is available elsewhere. */
  readonly isNeeded: boolean;
  /** Reports whether the current content is stale. */
  readonly isStale: (secret: Secret) => boolean;
}

/**
 * Returns the Secrets that must contain the hosts of the edge. None if the provider would currently not create them
 * again.
 */
export function renewableSecrets(
  facts: ProvidedFacts,
  spec: PreparationSpec,
): readonly RenewableSecret[] {
  const [owner] = facts.objects;
  if (owner === undefined || facts.phase !== 'serving' || !recreatesSecrets(facts, owner))
    return [];
  const lacks = (certificate: string): boolean =>
    lackingHosts({ ...facts, servingCertificate: certificate }, spec).length > 0;
  return [
    {
      owner,
      key: keyOf(owner, 'api-server-certificate'),
      isNeeded: true,
      isStale: (secret) => lacks(textIn(secret, 'apiserver.crt') ?? ''),
    },
    kubeconfigOf(owner, (server) => !isServerFor(server, spec)),
  ];
}

/**
 * Returns the Secrets that must not contain hosts that the edge no longer serves. Additional names in a certificate are
 * harmless.
 */
export function outdatedSecrets(
  facts: ProvidedFacts,
  hosts: readonly string[],
): readonly RenewableSecret[] {
  const [owner] = facts.objects;
  // In any phase: cleanup restores the previous fields, the control plane then restarts, and there is no later attempt.
  if (owner === undefined || !recreatesSecrets(facts, owner)) return [];
  return [kubeconfigOf(owner, (server) => hosts.includes(URL.parse(server)?.hostname ?? ''))];
}

function kubeconfigOf(owner: KubeObject, isStale: (server: string) => boolean): RenewableSecret {
  return {
    owner,
    key: keyOf(owner, 'admin-kubeconfig'),
    isNeeded: false,
    isStale: (secret) => {
      const server = serverIn(textIn(secret, 'admin.conf') ?? '');
      return server !== undefined && isStale(server);
    },
  };
}

/**
 * Returns the name that both providers use, and not a name from status, so that Snicket never deletes another Secret.
 */
function keyOf({ metadata: { name, namespace } }: KubeObject, suffix: string): ObjectKey {
  return { name: `${name}-${suffix}`, namespace };
}

/**
 * Reports whether the provider creates a deleted Secret again: not for a paused object, which it does not reconcile.
 */
function recreatesSecrets({ provider }: ProvidedFacts, { metadata }: KubeObject): boolean {
  const isPaused = Object.keys(metadata.annotations ?? {}).some((key) => key.endsWith('/paused'));
  return (provider === 'kamaji' || provider === 'steward') && !isPaused;
}
