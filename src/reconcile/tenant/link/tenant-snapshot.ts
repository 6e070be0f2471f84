/**
 * A tenant as it is now: read once, by GET alone, for a tool that shows what the operator would do.
 */
import type { KubeClient } from '../../../kube/client/client.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { RESOURCES, type Resource } from '../../../kube/resource.ts';
import type { ProxyPod } from '../../../probe/hops/proxies.ts';
import type { EndpointSlice } from '../../../kube/endpoints/endpoint-slice.ts';
import type { DaemonSetWithStatus } from '../../../tenant/proxy-addresses.ts';
import { soundDaemonSet } from './seen-objects.ts';
import {
  internalAddresses,
  TENANT_SELECTIONS,
  type Node,
  type Seen,
  type TenantView,
} from './tenant-view.ts';

/** One tenant, once. */
export class TenantSnapshot implements TenantView {
  readonly reader: KubeClient;
  readonly slices = new Kind<EndpointSlice>(RESOURCES.endpointSlice, 'slices');
  readonly daemonSets = new Kind<DaemonSetWithStatus>(
    RESOURCES.daemonSet,
    'daemonSets',
    soundDaemonSet,
  );
  readonly nodes: Kind<Node> | undefined;
  readonly pods: Kind<ProxyPod> | undefined;
  #reading: Promise<void> | undefined;

  /** @param readsNodes - That slices name every node. */
  constructor(client: KubeClient, readsNodes: boolean) {
    this.reader = client;
    if (readsNodes) {
      this.nodes = new Kind(RESOURCES.node, 'nodes', internalAddresses);
      this.pods = new Kind(RESOURCES.pod, 'pods');
    }
  }

  /** Reads everything, the first time. @throws KubeError */
  async synced(signal: AbortSignal): Promise<void> {
    this.#reading ??= this.#read(signal);
    await this.#reading;
  }

  async #read(signal: AbortSignal): Promise<void> {
    const kinds = [this.slices, this.daemonSets, this.nodes, this.pods];
    await Promise.all(kinds.map(async (kind) => kind?.read(this.reader, signal)));
  }
}

/** The objects of one kind. */
class Kind<T extends KubeObject> implements Seen<T> {
  readonly #resource: Resource;
  readonly #selection: keyof typeof TENANT_SELECTIONS;
  readonly #trim: ((object: T) => T) | undefined;
  #objects: readonly T[] = [];

  constructor(
    resource: Resource,
    selection: keyof typeof TENANT_SELECTIONS,
    trim?: (object: T) => T,
  ) {
    this.#resource = resource;
    this.#selection = selection;
    this.#trim = trim;
  }

  async read(client: KubeClient, signal: AbortSignal): Promise<void> {
    const options = { ...TENANT_SELECTIONS[this.#selection], trim: this.#trim, signal };
    this.#objects = (await client.list<T>(this.#resource, options)).items;
  }

  list(): readonly T[] {
    return this.#objects;
  }
}
