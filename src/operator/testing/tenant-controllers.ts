/**
 * For tests only: what kube-controller-manager and kubelets do in a tenant. Each node gets its pod of the proxies'
 * DaemonSet, at once and in the newest version, and the DaemonSet's status says so.
 */
import type { Clock } from '../../clock/clock.ts';
import { Informer } from '../../kube/informer/informer.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { WorkQueue } from '../../kube/work-queue.ts';
import { PROXY, PROXY_SELECTOR } from '../../tenant/proxy-names.ts';
import type { DaemonSetWithStatus } from '../../tenant/proxy-addresses.ts';
import { TENANT_SELECTIONS } from '../../reconcile/tenant/link/tenant-view.ts';
import { objectOf } from './objects.ts';

interface Worker {
  readonly labels: Readonly<Record<string, string>>;
  readonly addresses: readonly string[];
  isReady: boolean;
}

/** The controllers of one tenant. */
export class TenantControllers {
  readonly #client: KubeClient;
  readonly #daemonSets: Informer<DaemonSetWithStatus>;
  readonly #workers = new Map<string, Worker>();
  readonly #queue: WorkQueue;
  readonly #ended = new AbortController();
  readonly #running: Promise<unknown>;
  #isPaused = false;
  #isStalled = false;
  /** The generation that every worker has. */
  #rolledOut = 1;

  constructor(client: KubeClient, clock: Clock) {
    this.#client = client;
    this.#queue = new WorkQueue({
      clock,
      backoff: { firstMs: 10, maxMs: 100 },
      onFailure: () => {},
    });
    this.#daemonSets = new Informer({
      client,
      clock,
      resource: RESOURCES.daemonSet,
      selection: TENANT_SELECTIONS.daemonSets,
    });
    this.#daemonSets.onChange(() => this.#enqueue());
    const { signal } = this.#ended;
    this.#running = Promise.all([
      this.#daemonSets.run(signal),
      this.#queue.run(() => this.#reconcile(signal), { concurrency: 1, signal }),
    ]);
  }

  /** Adds a worker. By default its proxy is ready at once. */
  async addNode(name: string, addresses: readonly string[], isReady = true): Promise<void> {
    const labels = { 'kubernetes.io/os': 'linux', 'kubernetes.io/hostname': name };
    this.#workers.set(name, { labels, addresses, isReady });
    await this.#client.create(RESOURCES.node, objectOf('Node', { name, labels }));
    const status = {
      addresses: addresses.map((address) => ({ type: 'InternalIP', address })),
      conditions: [{ type: 'Ready', status: 'True' }],
    };
    await this.#writeStatus(RESOURCES.node, { name }, status);
    this.#enqueue();
  }

  async removeNode(name: string): Promise<void> {
    this.#workers.delete(name);
    await this.#client.delete(RESOURCES.node, { name });
    this.#enqueue();
  }

  /** Sets whether the proxy of a worker is ready. */
  setReady(name: string, isReady: boolean): void {
    const worker = this.#workers.get(name);
    if (worker === undefined) throw new Error(`there is no node ${name}`);
    worker.isReady = isReady;
    this.#enqueue();
  }

  /** The controllers do nothing until {@link resume}. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#enqueue();
  }

  /** From now on no pod of the newest template becomes ready. Pods of the previous one keep running. */
  stallRollouts(): void {
    this.#isStalled = true;
  }

  /** Pods of the newest template become ready again. */
  resumeRollouts(): void {
    this.#isStalled = false;
    this.#enqueue();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await this.#running;
  }

  #enqueue(): void {
    this.#queue.add('daemonset');
  }

  async #reconcile(signal: AbortSignal): Promise<void> {
    if (this.#isPaused || !this.#daemonSets.hasSynced) return;
    const daemonSet = this.#daemonSets.get(PROXY);
    await this.#reconcilePods(daemonSet, signal);
    if (daemonSet === undefined) return;
    const workers = this.#selected(daemonSet).map(([, worker]) => worker);
    const ready = workers.filter(({ isReady }) => isReady).length;
    const generation = daemonSet.metadata.generation ?? 1;
    if (!this.#isStalled) this.#rolledOut = generation;
    const updated = this.#rolledOut === generation ? workers.length : 0;
    await this.#writeStatus(RESOURCES.daemonSet, PROXY, {
      observedGeneration: daemonSet.metadata.generation,
      currentNumberScheduled: workers.length,
      desiredNumberScheduled: workers.length,
      updatedNumberScheduled: updated,
      numberMisscheduled: 0,
      numberReady: ready,
      numberAvailable: ready,
    });
  }

  async #reconcilePods(
    daemonSet: DaemonSetWithStatus | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { items } = await this.#client.list(RESOURCES.pod, {
      ...TENANT_SELECTIONS.pods,
      signal,
    });
    const wanted = daemonSet === undefined ? [] : this.#selected(daemonSet);
    const names = new Set(wanted.map(([node]) => podName(node)));
    for (const { metadata } of items) {
      if (!names.has(metadata.name)) await this.#client.delete(RESOURCES.pod, metadata);
    }
    for (const [node, { isReady }] of wanted) {
      const name = podName(node);
      const { namespace } = PROXY;
      if (!items.some(({ metadata }) => metadata.name === name)) {
        const spec = { nodeName: node };
        const pod = objectOf('Pod', { name, namespace, labels: PROXY_SELECTOR }, { spec });
        await this.#client.create(RESOURCES.pod, pod, { signal });
      }
      await this.#writeStatus(
        RESOURCES.pod,
        { name, namespace },
        {
          conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
          containerStatuses: [{ name: 'proxy', ready: isReady }],
        },
      );
    }
  }

  #selected({ spec }: DaemonSetWithStatus): readonly (readonly [string, Worker])[] {
    const selector = Object.entries(spec.template.spec.nodeSelector);
    return [...this.#workers].filter(([, { labels }]) =>
      selector.every(([label, value]) => labels[label] === value),
    );
  }

  /** Writes the status if it has changed and the object exists. */
  async #writeStatus(
    resource: (typeof RESOURCES)[keyof typeof RESOURCES],
    key: { readonly name: string; readonly namespace?: string },
    status: object,
  ): Promise<void> {
    const live = await this.#client.get<KubeObject & { status?: object }>(resource, key);
    if (live === undefined || Bun.deepEquals(live.status, status)) return;
    try {
      await this.#client.patch(resource, key, 'merge', { status }, { subresource: 'status' });
    } catch (error) {
      if (!isKubeError(error, 'NotFound')) throw error;
    }
  }
}

function podName(node: string): string {
  return `${PROXY.name}-${node}`;
}
