/**
 * The operator's way to one tenant: a client, and watches of the few objects whose drift has to be mended in seconds.
 * Everything else of the tenant is read when it is needed: with a thousand tenants, each watch costs 20 to 30 MB.
 */
import type { KubeClient } from '../../kube/client.ts';
import { Informer } from '../../kube/informer.ts';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { SERVICE_NAME_LABEL, type EndpointSlice } from '../../tenant/endpoint-slice.ts';
import { KUBERNETES } from '../../tenant/kubernetes-endpoints.ts';
import type { DaemonSet } from '../../tenant/pod.ts';
import type { ProxyPod } from '../../probe/hops/proxies.ts';
import { PROXY, PROXY_SELECTOR } from '../../tenant/proxy-names.ts';

/** As much of a node as slices need. */
export interface Node extends KubeObject {
  readonly status?: {
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
  };
}

/** Options of a {@link TenantLink}. */
export interface TenantLinkOptions {
  readonly client: KubeClient;
  /** Slices name every node: watch those too. */
  readonly watchesNodes: boolean;
  /** Something that is watched has changed. */
  readonly onChange: () => void;
}

/** One tenant. */
export class TenantLink {
  readonly client: KubeClient;
  readonly slices: Informer<EndpointSlice>;
  readonly daemonSets: Informer<DaemonSet & WithDaemonSetStatus>;
  /** With `watchesNodes` only. */
  readonly nodes: Informer<Node> | undefined;
  readonly pods: Informer<ProxyPod> | undefined;

  readonly #closed = new AbortController();

  constructor({ client, watchesNodes, onChange }: TenantLinkOptions) {
    this.client = client;
    this.slices = new Informer({
      client,
      resource: RESOURCES.endpointSlice,
      selection: {
        namespace: KUBERNETES.namespace,
        labelSelector: `${SERVICE_NAME_LABEL}=${KUBERNETES.name}`,
      },
      trim: whole,
    });
    this.daemonSets = new Informer({
      client,
      resource: RESOURCES.daemonSet,
      selection: { namespace: PROXY.namespace, fieldSelector: `metadata.name=${PROXY.name}` },
    });
    if (watchesNodes) {
      this.nodes = new Informer({ client, resource: RESOURCES.node, trim: addressesOnly });
      this.pods = new Informer({
        client,
        resource: RESOURCES.pod,
        selection: {
          namespace: PROXY.namespace,
          labelSelector: Object.entries(PROXY_SELECTOR)
            .map(([key, value]) => `${key}=${value}`)
            .join(','),
        },
      });
    }
    for (const informer of this.#informers()) informer.onChange(onChange);
  }

  /** Begins to watch. */
  open(): void {
    for (const informer of this.#informers()) void informer.run(this.#closed.signal);
  }

  /** Once every watch has its first list. @throws the signal's reason */
  async synced(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#informers().map((informer) => informer.synced(signal)));
  }

  /** The proxies' DaemonSet, as it is. */
  get daemonSet(): (DaemonSet & WithDaemonSetStatus) | undefined {
    return this.daemonSets.get(PROXY);
  }

  close(): void {
    this.#closed.abort();
  }

  #informers(): readonly Pick<Informer<KubeObject>, 'run' | 'synced' | 'onChange'>[] {
    return [
      this.slices,
      this.daemonSets,
      ...(this.nodes === undefined ? [] : [this.nodes]),
      ...(this.pods === undefined ? [] : [this.pods]),
    ];
  }
}

/** What the tenant's controllers say of a DaemonSet. */
export interface WithDaemonSetStatus {
  readonly status?: {
    readonly observedGeneration?: number;
    readonly desiredNumberScheduled?: number;
    readonly numberReady?: number;
    readonly updatedNumberScheduled?: number;
    readonly numberAvailable?: number;
  };
}

/** Who else writes a slice is told by its managedFields, so those are kept. */
function whole<T>(object: T): T {
  return object;
}

function addressesOnly({ apiVersion, kind, metadata, status }: Node): Node {
  const { name, resourceVersion } = metadata;
  const addresses = (status?.addresses ?? []).filter(({ type }) => type === 'InternalIP');
  return {
    ...{ apiVersion, kind },
    metadata: { name, ...(resourceVersion !== undefined && { resourceVersion }) },
    status: { addresses },
  };
}
