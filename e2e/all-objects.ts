/**
 * Everything that is in a cluster, as texts to compare: what a clean-up leaves must be what was there before.
 */
import type { Cluster } from '../world/cluster/cluster.ts';

/** `Kind namespace/name`, and what the object says; times, versions and what controllers keep counting left out. */
export type ObjectTexts = Readonly<Record<string, string>>;

/** Come and go by themselves, or only count. */
const PASSING = new Set(['events', 'events.events.k8s.io', 'leases.coordination.k8s.io']);

interface Listed {
  readonly items: readonly ListedObject[];
}

interface ListedObject {
  readonly kind: string;
  readonly metadata: Readonly<Record<string, unknown>> & {
    readonly name: string;
    readonly namespace?: string;
    readonly ownerReferences?: readonly unknown[];
  };
  readonly status?: unknown;
}

/** All objects of all kinds that can be listed, but for those in one namespace. */
export async function allObjects(cluster: Cluster, except?: string): Promise<ObjectTexts> {
  const kinds = (await cluster.kubectl('api-resources', '--verbs=list', '--output=name'))
    .split('\n')
    .filter((kind) => kind !== '' && !PASSING.has(kind) && !kind.includes('metrics.k8s.io'));
  const text = await cluster.kubectl(
    ...['get', kinds.join(','), '--all-namespaces', '--output=json', '--ignore-not-found'],
  );
  const { items } = text === '' ? { items: [] } : (JSON.parse(text) as Listed);
  return Object.fromEntries(
    items
      .filter(({ metadata }) => metadata.namespace === undefined || metadata.namespace !== except)
      .filter((object) => !isReplaceable(object))
      .map(({ kind, metadata, status: _status, ...rest }) => {
        const { name, namespace = '', labels, annotations, finalizers, ownerReferences } = metadata;
        const shown = { labels, annotations, finalizers, ownerReferences, ...rest };
        return [`${kind} ${namespace}/${name}`, JSON.stringify(shown)] as const;
      })
      .toSorted(([one], [other]) => one.localeCompare(other)),
  );
}

/** A pod that its controller makes anew under another name: the controller is compared. */
function isReplaceable({ kind, metadata }: ListedObject): boolean {
  return kind === 'Pod' && (metadata.ownerReferences ?? []).length > 0;
}
