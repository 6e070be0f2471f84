/**
 * What people have to know, and what is left to do, when a control plane goes out from behind its edge: its host leads
 * nowhere any more, and some have it still.
 */
import { numberAt, textAt } from '../../kube/unstructured.ts';
import type { EventRecorder } from '../../kube/events/events.ts';
import { keyText, objectText, type KubeObject } from '../../kube/object.ts';
import type { ProvidedFacts } from '../../providers/reading/control-plane-reading.ts';
import { deletion, staleKubeconfig } from '../../providers/reading/published-server.ts';
import { readControlPlane } from '../../providers/reading/read-control-plane.ts';
import { outdatedSecrets } from '../../providers/reading/renewable-secrets.ts';
import { INGRESS } from '../../providers/tenant-control-plane.ts';
import type { ManagementAccess } from '../../management/management-view.ts';
import type { SecretRenewals, StaleSecrets } from '../preparation/secret-renewals.ts';
import { currentObjects, deletedExposure } from './current-control-plane.ts';

/** Records an event on the provider's object, which stays. Nothing if there is none. @throws KubeError */
export async function recordRemainingHosts(
  object: KubeObject,
  {
    management,
    events,
    renewals,
  }: {
    readonly management: ManagementAccess;
    readonly events: Pick<EventRecorder, 'record'>;
    readonly renewals: SecretRenewals;
  },
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
  // A host that was its own before leads wherever it did then.
  if (hosts.includes(ownHost(owner) ?? '')) return;
  const left = outdatedSecrets(provided, hosts);
  const options = { isLast: true, signal };
  const { deleted } = await renewals.renew(staleSecrets, left, options);
  const words = [
    ...workersText(numberAt(object, 'status', 'proxies', 'desired') ?? 0),
    ...(deleted.length > 0
      ? deleted.map((key) => `Secret ${keyText(key)}, which had it, was deleted: ${MAKES_ANEW}`)
      : kubeconfigText(owner, provided, hosts)),
  ];
  if (words.length === 0) return;
  const gone = `${objectText(owner)} is not behind the edge any more: ${host} does not lead there`;
  const note = [gone, ...words].join('. ');
  events.record(owner, { type: 'Warning', action: 'Leave', reason: 'EdgeLeft', note });
}

function isNewer({ metadata: one }: KubeObject, { metadata: other }: KubeObject): boolean {
  return (one.creationTimestamp ?? '') > (other.creationTimestamp ?? '');
}

const MAKES_ANEW = 'its provider makes it anew';

function workersText(nodes: number): readonly string[] {
  if (nodes === 0) return [];
  const number = nodes === 1 ? 'there is 1 node' : `there are ${nodes} nodes`;
  return [
    `Workers that joined by it (${number}) lose their API server, until the kubeconfig of their kubelet has another server`,
  ];
}

/** What hands the host out still. */
function kubeconfigText(
  owner: KubeObject,
  { provider, publishedServer = '' }: ProvidedFacts,
  hosts: readonly string[],
): readonly string[] {
  if (!hosts.includes(URL.parse(publishedServer)?.hostname ?? '')) return [];
  const { name, namespace } = owner.metadata;
  const key = { name: `${name}-admin-kubeconfig`, namespace };
  return provider === 'kamaji' || provider === 'steward'
    ? [`Secret ${keyText(key)} has it; if it stays, ${MAKES_ANEW} after ${deletion(key)}`]
    : [`The Secret with the kubeconfig has it; if it stays, ${staleKubeconfig(owner)}`];
}

/** The host of the API that it has by itself. */
function ownHost(owner: KubeObject): string | undefined {
  const host =
    textAt(owner, ...INGRESS, 'hostname') ??
    textAt(owner, 'spec', 'ingress', 'apiHost') ??
    textAt(owner, 'spec', 'config', 'ingress', 'apiHost');
  return host?.split(':')[0];
}
