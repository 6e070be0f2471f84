/**
 * Reports what still uses the host of a control plane after the cleanup of its Exposure: the host no longer points to it.
 */
import { numberAt, textAt } from '../../kube/unstructured.ts';
import { keyText, objectText, type KubeObject } from '../../kube/object.ts';
import type { ProvidedFacts } from '../../providers/reading/control-plane-reading.ts';
import { deletion, staleKubeconfig } from '../../providers/reading/published-server.ts';
import { readControlPlane } from '../../providers/reading/read-control-plane.ts';
import { outdatedSecrets } from '../../providers/reading/renewable-secrets.ts';
import { INGRESS } from '../../providers/tenant-control-plane.ts';
import type { StaleSecrets } from '../preparation/secret-renewals.ts';
import type { ReconcileDeps } from '../reconcile-deps.ts';
import { cleanupWarning } from './cleanup-warning.ts';
import { currentObjects, deletedExposure } from './current-control-plane.ts';

/** Records an event on the provider's object, which stays. Nothing if there is none. @throws KubeError */
export async function recordRemainingHosts(
  object: KubeObject,
  { management, events, renewals }: ReconcileDeps,
  staleSecrets: StaleSecrets,
  signal: AbortSignal,
): Promise<void> {
  const { value: exposure } = deletedExposure(object, management.exposureIndex);
  // The current host first, then previous ones.
  const hosts = management.tenantRoutes
    .ofExposure(keyText(object.metadata))
    .toSorted((a, b) => (isNewer(a, b) ? -1 : 1))
    .flatMap(({ spec }) => (spec.type === 'API' ? spec.host : []));
  const [host] = hosts;
  if (exposure === undefined || host === undefined) return;
  const { provided } = await readControlPlane(exposure, currentObjects(management, signal));
  const [owner] = provided?.objects ?? [];
  if (provided === undefined || owner === undefined || provided.phase === 'deleting') return;
  // A host that the object had before the preparation still points where it did.
  if (hosts.includes(ownHost(owner) ?? '')) return;
  const stale = outdatedSecrets(provided, hosts);
  const options = { isLast: true, signal };
  const { deleted } = await renewals.renew(staleSecrets, stale, options);
  const sentences = [
    ...workersText(numberAt(object, 'status', 'proxies', 'desired') ?? 0),
    ...(deleted.length > 0
      ? deleted.map(
          (key) => `Secret ${keyText(key)} contained this host and was deleted. ${RECREATED}`,
        )
      : kubeconfigText(owner, provided, hosts)),
  ];
  if (sentences.length === 0) return;
  const gone = `${objectText(owner)} is no longer behind the edge, and ${host} does not point to it.`;
  const note = [gone, ...sentences].join(' ');
  events.record(owner, cleanupWarning('EdgeRemoved', note));
}

function isNewer({ metadata: route }: KubeObject, { metadata: other }: KubeObject): boolean {
  return (route.creationTimestamp ?? '') > (other.creationTimestamp ?? '');
}

const RECREATED = 'Its provider creates it again.';

function workersText(nodes: number): readonly string[] {
  if (nodes === 0) return [];
  const number = nodes === 1 ? '1 node' : `${nodes} nodes`;
  return [
    `Workers that joined through it (${number}) lose their API server until the kubeconfig of their kubelet has another server.`,
  ];
}

/** The Secret that still contains the host. */
function kubeconfigText(
  owner: KubeObject,
  { provider, publishedServer = '' }: ProvidedFacts,
  hosts: readonly string[],
): readonly string[] {
  if (!hosts.includes(URL.parse(publishedServer)?.hostname ?? '')) return [];
  const { name, namespace } = owner.metadata;
  const key = { name: `${name}-admin-kubeconfig`, namespace };
  return provider === 'kamaji' || provider === 'steward'
    ? [
        `Secret ${keyText(key)} still contains this host. To let its provider create it again, run: ${deletion(key)}`,
      ]
    : [
        `The Secret with the kubeconfig still contains this host. To renew it: ${staleKubeconfig(owner)}`,
      ];
}

/** The API host in the object itself. */
function ownHost(owner: KubeObject): string | undefined {
  const host =
    textAt(owner, ...INGRESS, 'hostname') ??
    textAt(owner, 'spec', 'ingress', 'apiHost') ??
    textAt(owner, 'spec', 'config', 'ingress', 'apiHost');
  return host?.split(':')[0];
}
