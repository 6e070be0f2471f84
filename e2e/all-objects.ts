/** All objects of a cluster as comparable texts. After a cleanup, they must be the same as before. */
import type { Cluster } from '../world/cluster/cluster.ts';

/** The content of each object by `Kind namespace/name`, without times, versions and status. */
export type ObjectTexts = Readonly<Record<string, string>>;

/** Kinds that controllers create and delete at any time. */
const EPHEMERAL = new Set(['events', 'events.events.k8s.io', 'leases.coordination.k8s.io']);

interface ObjectList {
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

/** Returns the objects of all kinds that can be listed, except those in one namespace. */
export async function allObjects(cluster: Cluster, exceptNamespace?: string): Promise<ObjectTexts> {
  const kinds = (await cluster.kubectl('api-resources', '--verbs=list', '--output=name'))
    .split('\n')
    .filter((kind) => kind !== '' && !EPHEMERAL.has(kind) && !kind.includes('metrics.k8s.io'));
  const text = await cluster.kubectl(
    ...['get', kinds.join(','), '--all-namespaces', '--output=json', '--ignore-not-found'],
  );
  const { items } = text === '' ? { items: [] } : (JSON.parse(text) as ObjectList);
  return Object.fromEntries(
    items
      .filter(
        ({ metadata }) =>
          metadata.namespace === undefined || metadata.namespace !== exceptNamespace,
      )
      .filter((object) => !isReplaceable(object))
      .map(({ kind, metadata, status: _status, ...rest }) => {
        const { name, namespace = '', labels, annotations, finalizers, ownerReferences } = metadata;
        const content = { labels, annotations, finalizers, ownerReferences, ...rest };
        return [`${kind} ${namespace}/${name}`, JSON.stringify(content)] as const;
      })
      .toSorted(([first], [second]) => first.localeCompare(second)),
  );
}

/** Reports whether a controller replaces the pod under another name. Its controller is compared instead. */
function isReplaceable({ kind, metadata }: ListedObject): boolean {
  return kind === 'Pod' && (metadata.ownerReferences ?? []).length > 0;
}
