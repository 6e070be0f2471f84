import type { Cluster } from './cluster.ts';
import type { ClusterApi } from './cluster-api.ts';
import { isReady, type ObjectWithConditions } from './conditions.ts';
import { IMAGES } from '../images/images.ts';
import { waitFor } from '../wait.ts';

/** Spec of a pod. */
export interface PodSpec {
  /** Default: a generated name. */
  readonly name?: string;
  /** Default `default`. */
  readonly namespace?: string;
  /** Node it must run on. Default: the scheduler's choice. */
  readonly node?: string;
  /** Use the node's network. Default false. */
  readonly hostNetwork?: boolean;
  /** Default: the tools image, with a shell and kubectl. */
  readonly image?: string;
  /** Default: sleep until deleted. */
  readonly command?: readonly string[];
  /** Default: the namespace's default. */
  readonly serviceAccount?: string;
}

/** A pod of the world. */
export class Pod {
  readonly name: string;
  readonly namespace: string;
  readonly #cluster: Cluster<ClusterApi>;

  constructor(cluster: Cluster<ClusterApi>, namespace: string, name: string) {
    this.#cluster = cluster;
    this.namespace = namespace;
    this.name = name;
  }

  /** Runs a command in the pod and returns its output, through the API server, as `kubectl exec` does. */
  async exec(...argv: string[]): Promise<string> {
    return this.#cluster.kubectl('exec', `--namespace=${this.namespace}`, this.name, '--', ...argv);
  }

  /** Writes a file in the pod. */
  async write(path: string, text: string): Promise<void> {
    // Checks the file, because kubectl may close standard input before it has sent the content.
    await waitFor(`${path} is in pod ${this.name}`, async () => {
      const command = ['--', 'sh', '-c', `cat > ${path}`];
      await this.#cluster.controlPlane.kubectl(
        ['exec', '--stdin', `--namespace=${this.namespace}`, this.name, ...command],
        text,
      );
      return (await this.exec('cat', path)).trim() === text.trim();
    });
  }

  /** Returns the pod's output. */
  async logs(): Promise<string> {
    return this.#cluster.kubectl('logs', `--namespace=${this.namespace}`, this.name);
  }

  /** Deletes the pod and waits until it is gone. */
  async delete(): Promise<void> {
    await this.#cluster.kubectl(
      'delete',
      'pod',
      `--namespace=${this.namespace}`,
      this.name,
      '--grace-period=1',
      '--wait',
    );
  }

  /**
   * Waits until the pod is Ready or has succeeded.
   *
   * @throws if the pod has failed, with its status and output
   */
  async untilSettled(deadlineMs = 60_000): Promise<void> {
    let last: ObjectWithConditions = {};
    const isSettled = async () => {
      const path = `/api/v1/namespaces/${this.namespace}/pods/${this.name}`;
      const response = await this.#cluster.controlPlane.request('GET', path);
      if (!response.ok)
        throw new Error(`pod ${this.name} cannot be read: ${await response.text()}`);
      last = (await response.json()) as ObjectWithConditions;
      return isReady(last) || last.status?.phase === 'Succeeded' || last.status?.phase === 'Failed';
    };
    await waitFor(`pod ${this.name} runs`, isSettled, { deadlineMs }).catch((error: unknown) => {
      throw new Error(`pod ${this.name} did not become Ready: ${JSON.stringify(last.status)}`, {
        cause: error,
      });
    });
    if (last.status?.phase === 'Failed') {
      throw new Error(
        `pod ${this.name} failed: ${JSON.stringify(last.status)}\n${await this.logs()}`,
      );
    }
  }
}

/** Returns the manifest of a pod that terminates without a grace period, because tests delete many pods. */
export function podManifest(spec: PodSpec, name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: spec.namespace ?? 'default' },
    spec: {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 0,
      ...(spec.node ? { nodeSelector: { 'kubernetes.io/hostname': spec.node } } : {}),
      ...(spec.hostNetwork ? { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' } : {}),
      ...(spec.serviceAccount ? { serviceAccountName: spec.serviceAccount } : {}),
      tolerations: [{ operator: 'Exists' }],
      containers: [
        {
          name: 'main',
          image: spec.image ?? IMAGES.tools,
          imagePullPolicy: 'Never',
          command: spec.command ?? ['sleep', '2147483647'],
        },
      ],
    },
  };
}
