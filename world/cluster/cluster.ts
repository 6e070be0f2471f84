import { stringify } from 'yaml';
import { hasExternalCloud } from '../spec.ts';
import { retry, waitForAll, waitFor } from '../wait.ts';
import type { ClusterApi } from './cluster-api.ts';
import type { ControlPlane } from './control-plane.ts';
import { isReady, type ObjectWithConditions } from './conditions.ts';
import { forwardsToServices } from './kube-proxy.ts';
import { Pod, podManifest, type PodSpec } from './pod.ts';
import type { Worker } from './worker.ts';

/**
 * A control plane with its workers: the management cluster or a tenant. `Cluster<ClusterApi>` also covers the tenant of
 * a provider, whose control plane is not part of the world.
 */
export class Cluster<C extends ClusterApi = ControlPlane> {
  readonly name: string;
  readonly plan: C['plan'];
  readonly controlPlane: C;
  readonly workers: readonly Worker[];
  #pods = 0;

  constructor(controlPlane: C, workers: readonly Worker[]) {
    this.name = controlPlane.plan.name;
    this.plan = controlPlane.plan;
    this.controlPlane = controlPlane;
    this.workers = workers;
  }

  /**
   * Starts control plane and workers. Returns when the nodes are Ready, kube-proxy has written its rules and pods can
   * be created.
   *
   * @param archives image archives for the nodes.
   * @param objects objects to apply while the nodes start. Default none.
   */
  async start(archives: readonly string[], objects: readonly object[] = []): Promise<void> {
    await waitForAll([
      this.controlPlane.start(),
      ...this.workers.map((worker) => worker.startContainerd(archives)),
    ]);
    await waitForAll([
      ...this.workers.map((worker) => worker.startKubelet(this.controlPlane)),
      objects.length > 0 ? this.apply(...objects) : undefined,
    ]);
    await this.#untilNodesReady();
    await this.#untilServiceAccountReady();
    // Nodes of an external cloud provider have no address yet, and kube-proxy waits half a minute for it.
    if (!hasExternalCloud(this.plan)) await this.#untilServicesReady();
  }

  /** Returns the worker with this name, or the first worker. */
  worker(name?: string): Worker {
    const worker =
      name === undefined
        ? this.workers[0]
        : this.workers.find((candidate) => candidate.name === name);
    if (!worker)
      throw new Error(
        `${this.name} has no worker${name ? ` '${name}'` : ''}; workers: ${this.workers.map((candidate) => candidate.name).join(', ') || 'none'}`,
      );
    return worker;
  }

  /**
   * Runs kubectl as the cluster's administrator and returns what it printed. `kubectl get` of objects is retried.
   *
   * @throws CommandError if kubectl fails
   */
  async kubectl(...args: string[]): Promise<string> {
    const run = async () => this.controlPlane.kubectl(args);
    // Callers that request a raw path retry it themselves.
    const reads = args[0] === 'get' && args[1] !== '--raw';
    // kubectl exits with the same code for every kind of failure, so every failure is retried.
    return reads ? retry(run, this.controlPlane.retryOptions) : run();
  }

  /** Applies objects, given as values or as YAML. */
  async apply(...objects: (object | string)[]): Promise<string> {
    const text = objects
      .map((object) =>
        typeof object === 'string' ? object : stringify(object, { compat: 'yaml-1.1' }),
      )
      .join('\n---\n');
    return this.controlPlane.kubectl(
      ['apply', '--server-side', '--force-conflicts', '-f', '-'],
      text,
    );
  }

  /** Returns an object; undefined if it does not exist. */
  async get<T = Record<string, unknown>>(
    resource: string,
    name: string,
    namespace = 'default',
  ): Promise<T | undefined> {
    const flags = [`--namespace=${namespace}`, '--ignore-not-found', '--output=json'];
    const text = await this.kubectl('get', resource, name, ...flags);
    return text === '' ? undefined : (JSON.parse(text) as T);
  }

  /** All objects of a core resource, such as `nodes` or `pods`, in all namespaces. */
  async list(resource: string): Promise<ObjectWithConditions[]> {
    const response = await this.controlPlane.request('GET', `/api/v1/${resource}`);
    if (!response.ok)
      throw new Error(`${this.name} does not list ${resource}: ${await response.text()}`);
    return ((await response.json()) as { items: ObjectWithConditions[] }).items;
  }

  /** Creates a pod and waits until it runs. */
  async runPod(spec: PodSpec = {}): Promise<Pod> {
    if (spec.node !== undefined) this.worker(spec.node); // throws if there is no such worker
    const name = spec.name ?? `pod-${++this.#pods}`;
    const namespace = spec.namespace ?? 'default';
    const response = await this.controlPlane.request(
      'POST',
      `/api/v1/namespaces/${namespace}/pods`,
      podManifest(spec, name),
    );
    if (!response.ok)
      throw new Error(`pod ${name} of ${this.name} was rejected: ${await response.text()}`);
    const pod = new Pod(this, namespace, name);
    await pod.untilSettled();
    return pod;
  }

  /** Waits until the API server reaches every kubelet through konnectivity. From then on, logs and exec work. */
  async untilNodesReachable(): Promise<void> {
    for (const worker of this.workers) {
      await waitFor(
        `the API server of ${this.name} reaches ${worker.name} by konnectivity`,
        () => this.controlPlane.answers(`/api/v1/nodes/${worker.name}/proxy/healthz`),
        // An agent that did not find its server retries after half a minute.
        { deadlineMs: 120_000, everyMs: 250 },
      );
    }
  }

  /** Waits until the API server serves the kinds of all CRDs. `kubectl wait` fails for a CRD without a status. */
  async untilCrdsEstablished(): Promise<void> {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await waitFor(
      `the API server of ${this.name} serves the kinds of all CRDs`,
      async () => {
        const response = await this.controlPlane.request('GET', path);
        const { items } = (await response.json()) as { items: ObjectWithConditions[] };
        const areEstablished = items.every(({ status }) =>
          status?.conditions?.some(
            (condition) => condition.type === 'Established' && condition.status === 'True',
          ),
        );
        if (!areEstablished) return false;
        // API discovery, which kubectl uses, lists new kinds a moment later. kubectl fails while discovery is
        // incomplete.
        const names = await this.kubectl('api-resources', '--output=name').catch(() => '');
        const found = new Set(names.split('\n'));
        return items.every(({ metadata }) => found.has(metadata?.name ?? ''));
      },
      { deadlineMs: 60_000 },
    );
  }

  async #untilNodesReady(): Promise<void> {
    await waitFor(
      `the ${this.workers.length} nodes of ${this.name} are Ready`,
      async () => {
        for (const worker of this.workers) {
          const kubelet = worker.daemon('kubelet');
          if (!kubelet.running)
            throw new Error(`kubelet of ${worker.name} ended:\n${kubelet.tail()}`);
        }
        // Compares names, because Node objects of removed workers stay.
        const ready = (await this.list('nodes')).filter(isReady);
        const names = new Set(ready.map(({ metadata }) => metadata?.name));
        return this.workers.every(({ name }) => names.has(name));
      },
      { deadlineMs: 60_000 },
    );
  }

  async #untilServicesReady(): Promise<void> {
    for (const worker of this.workers) {
      await waitFor(`${worker.name} forwards to Services`, async () => forwardsToServices(worker), {
        deadlineMs: 60_000,
      });
    }
  }

  async #untilServiceAccountReady(): Promise<void> {
    await waitFor(
      `${this.name} has its default service account`,
      () => this.controlPlane.answers('/api/v1/namespaces/default/serviceaccounts/default'),
      { deadlineMs: 60_000 },
    );
  }
}
