/**
 * The Secrets that a provider keeps as they are when its object changes, and makes anew once they are gone. Kamaji 1.0 does so
 * with the certificate of the API server and a kubeconfig, Steward 0.3 with a kubeconfig. Newer ones know an annotation
 * for it too; that they are deleted is what all of them understand.
 */
import type { KubeObject, ObjectKey } from '../../kube/object.ts';
import type { ProvidedFacts, Secret } from './control-plane-reading.ts';
import { serverIn } from './kubeconfig-server.ts';
import type { PreparationWish } from '../preparation/preparation.ts';
import { isServerFor, lackingHosts } from './published-server.ts';
import { textIn } from './secret-reading.ts';

/** One that may have to be made anew. */
export interface RenewableSecret {
  readonly key: ObjectKey;
  /** What the provider made it for, and what it belongs to. */
  readonly owner: KubeObject;
  /** Whether clients cannot do without. A kubeconfig can be had elsewhere. */
  readonly isNeeded: boolean;
  /** Of how it is now. */
  readonly isStale: (secret: Secret) => boolean;
}

/** Those that must know the hosts of the edge; none of a provider that would not make them anew now. */
export function renewableSecrets(
  facts: ProvidedFacts,
  wish: PreparationWish,
): readonly RenewableSecret[] {
  const [owner] = facts.objects;
  if (owner === undefined || facts.phase !== 'serving' || !makesAnew(facts, owner)) return [];
  const lacks = (certificate: string): boolean =>
    lackingHosts({ ...facts, servingCertificate: certificate }, wish).length > 0;
  return [
    {
      owner,
      key: keyOf(owner, 'api-server-certificate'),
      isNeeded: true,
      isStale: (secret) => lacks(textIn(secret, 'apiserver.crt') ?? ''),
    },
    kubeconfigOf(owner, (server) => !isServerFor(server, wish)),
  ];
}

/** Those that must not have hosts which lead nowhere any more. In a certificate a name too many does no harm. */
export function leftSecrets(
  facts: ProvidedFacts,
  hosts: readonly string[],
): readonly RenewableSecret[] {
  const [owner] = facts.objects;
  // In whatever phase: with its former fields a control plane starts anew, and there is no next time.
  if (owner === undefined || !makesAnew(facts, owner)) return [];
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

/** By the name that both give it, whatever a status says: no other Secret is ever meant. */
function keyOf({ metadata: { name, namespace } }: KubeObject, what: string): ObjectKey {
  return { name: `${name}-${what}`, namespace };
}

/** One that does not look at its object leaves it without. */
function makesAnew({ provider }: ProvidedFacts, { metadata }: KubeObject): boolean {
  const isPaused = Object.keys(metadata.annotations ?? {}).some((key) => key.endsWith('/paused'));
  return (provider === 'kamaji' || provider === 'steward') && !isPaused;
}
