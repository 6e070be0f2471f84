/**
 * The operator's way to one tenant: a client, and watches of the few objects whose drift has to be mended in seconds.
 * Everything else of the tenant is read when it is needed: with a thousand tenants, each watch costs 20 to 30 MB.
 */
import type { KubeClient } from '../../kube/client.ts';
import { Informer } from '../../kube/informer.ts';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import type { EndpointSlice } from '../../tenant/endpoint-slice.ts';
import type { ProxyPod } from '../../probe/hops/proxies.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import type { DaemonSetWithStatus } from '../../tenant/proxy-addresses.ts';
import { internalAddresses, TENANT_SELECTIONS, type Node, type TenantView } from './tenant-view.ts';

/** Options of a {@link TenantLink}. */
export interface TenantLinkOptions {
  readonly client: KubeClient;
  /** Slices name every node: watch those too. */
  readonly watchesNodes: boolean;
  /** Something that is watched has changed. */
  readonly onChange: () => void;
}

/** One tenant. */
export class TenantLink implements TenantView {
  readonly client: KubeClient;
  readonly slices: Informer<EndpointSlice>;
  readonly daemonSets: Informer<DaemonSetWithStatus>;
  /** With `watchesNodes` only. */
  readonly nodes: Informer<Node> | undefined;
  readonly pods: Informer<ProxyPod> | undefined;

  readonly #closed = new AbortController();

  constructor({ client, watchesNodes, onChange }: TenantLinkOptions) {
    this.client = client;
    this.slices = new Informer({
      client,
      resource: RESOURCES.endpointSlice,
      selection: TENANT_SELECTIONS.slices,
      trim: whole,
    });
    this.daemonSets = new Informer({
      client,
      resource: RESOURCES.daemonSet,
      selection: TENANT_SELECTIONS.daemonSets,
    });
    if (watchesNodes) {
      this.nodes = new Informer({ client, resource: RESOURCES.node, trim: internalAddresses });
      this.pods = new Informer({
        client,
        resource: RESOURCES.pod,
        selection: TENANT_SELECTIONS.pods,
      });
    }
    for (const informer of this.#informers()) informer.onChange(onChange);
  }

  /** Begins to watch: one kind after the other, so that their lists go by one connection. */
  open(): void {
    void this.#openAll(this.#closed.signal);
  }

  async #openAll(signal: AbortSignal): Promise<void> {
    for (const informer of this.#informers()) {
      void informer.run(signal);
      const isClosed = await informer.synced(signal).then(
        () => false,
        () => true,
      );
      if (isClosed) return;
    }
  }

  /** Once every watch has its first list. @throws the signal's reason */
  async synced(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#informers().map((informer) => informer.synced(signal)));
  }

  /** The proxies' DaemonSet, as it is. */
  get daemonSet(): DaemonSetWithStatus | undefined {
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

/** Who else writes a slice is told by its managedFields, so those are kept. */
function whole<T>(object: T): T {
  return object;
}
