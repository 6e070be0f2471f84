/** A provider's control plane in a management cluster, with its Exposure. */
import { join } from 'node:path';
import { keyText, type KubeObject } from '../src/kube/object.ts';
import { groupOf } from '../src/kube/resource.ts';
import type { Cluster } from '../world/cluster/cluster.ts';
import { repository } from '../world/repository.ts';
import { waitFor } from '../world/wait.ts';
import type { Exposure } from './installed-snicket.ts';

/** Returns the full resource name for kubectl, because other groups have kinds of the same name. */
export function resourceText({
  apiVersion,
  kind,
}: Pick<KubeObject, 'apiVersion' | 'kind'>): string {
  const group = groupOf(apiVersion);
  return group === '' ? kind : `${kind}.${apiVersion.slice(group.length + 1)}.${group}`;
}

/** One control plane. */
export class ProvidedControlPlane {
  readonly object: KubeObject;
  readonly #management: Cluster;
  readonly #written: readonly KubeObject[];

  /** @param written - All objects that Snicket may write into. Default: only `object`. */
  constructor(management: Cluster, object: KubeObject, written: readonly KubeObject[] = [object]) {
    this.object = object;
    this.#management = management;
    this.#written = written;
  }

  /**
   * Returns the fields of its objects that users and controllers write, without status and fields of the API server.
   */
  async fields(): Promise<readonly unknown[]> {
    const found: unknown[] = [];
    for (const { apiVersion, kind, metadata } of this.#written) {
      const text = resourceText({ apiVersion, kind });
      const live = await this.#management.get<KubeObject & { spec: unknown }>(
        ...([text, metadata.name, metadata.namespace] as const),
      );
      if (live === undefined) throw new Error(`there is no ${text} ${keyText(metadata)}`);
      const { labels, annotations, ownerReferences, finalizers } = live.metadata;
      found.push({ labels, annotations, ownerReferences, finalizers, spec: live.spec });
    }
    return found;
  }

  /** Returns the field managers of its objects. */
  async managers(): Promise<readonly string[]> {
    const found: string[] = [];
    for (const object of this.#written) {
      const { name, namespace = '' } = object.metadata;
      const output = '--output=jsonpath={.metadata.managedFields[*].manager}';
      const args = [resourceText(object), name, `--namespace=${namespace}`];
      const fields = ['--show-managed-fields', output];
      found.push(...(await this.#management.kubectl('get', ...args, ...fields)).split(' '));
    }
    return found;
  }

  /** Annotates the object: `KEY=VALUE`, or `KEY-`. */
  async annotate(annotation: string): Promise<void> {
    const { name, namespace = '' } = this.object.metadata;
    const object = [resourceText(this.object), name, `--namespace=${namespace}`];
    await this.#management.kubectl('annotate', ...object, annotation);
  }

  /** Creates its Exposure, as a user would. */
  async expose(edge: string, prepare: 'Patch' | 'Report'): Promise<void> {
    const { apiVersion, kind, metadata } = this.object;
    const { name, namespace } = metadata;
    await this.#management.apply({
      apiVersion: 'snicket.dev/v1alpha1',
      kind: 'Exposure',
      metadata: { name, namespace },
      spec: {
        edgeRef: { name: edge },
        prepare,
        controlPlane: { type: 'Object', objectRef: { group: groupOf(apiVersion), kind, name } },
      },
    });
  }

  /** Changes the spec of its Exposure. */
  async change(spec: object): Promise<void> {
    const { name, namespace = '' } = this.object.metadata;
    const patch = `--patch=${JSON.stringify({ spec })}`;
    const object = ['exposure', name, `--namespace=${namespace}`];
    await this.#management.kubectl('patch', ...object, '--type=merge', patch);
  }

  /** Deletes its Exposure, and waits until it is gone. */
  async unexpose(): Promise<void> {
    const { name, namespace = '' } = this.object.metadata;
    await this.#management.kubectl(
      ...['delete', 'exposure', name, `--namespace=${namespace}`, '--timeout=100s'],
    );
  }

  /** Returns the YAML that `snicket render` prints for its objects: the preparation that Snicket requires. */
  async report(): Promise<string> {
    const { host, kubeconfig } = this.#management.controlPlane;
    const args = ['render', keyText(this.object.metadata), '--only=management'];
    const command = [join(repository, 'snicket'), ...args, `--kubeconfig=${kubeconfig}`];
    // `snicket render` exits with 1 if fields are missing, and prints them in any case.
    const { stdout } = await host.exec(['sh', '-c', '"$@" || test $? = 1', 'sh', ...command]);
    return stdout;
  }

  /**
   * Waits until status and reason of a condition of its Exposure begin with this text, such as `True` or
   * `False PreparationRequired`.
   */
  async until(type: string, expected: string, deadlineMs?: number): Promise<void> {
    await this.#untilCondition(type, expected, (text) => text.startsWith(expected), deadlineMs);
  }

  /** Waits until a condition of its Exposure exists and does not begin with this text. */
  async untilNot(type: string, expected: string): Promise<void> {
    await this.#untilCondition(
      type,
      `not ${expected}`,
      (text) => text !== '' && !text.startsWith(expected),
    );
  }

  async #untilCondition(
    type: string,
    expected: string,
    matches: (text: string) => boolean,
    deadlineMs = 60_000,
  ): Promise<void> {
    let last: unknown;
    await waitFor(
      `${type} of Exposure ${keyText(this.object.metadata)} is ${expected}`,
      async () => {
        const { conditions = [] } = (await this.exposure())?.status ?? {};
        last = conditions;
        const condition = conditions.find((candidate) => candidate.type === type);
        return matches(condition === undefined ? '' : `${condition.status} ${condition.reason}`);
      },
      { deadlineMs, everyMs: 250 },
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${JSON.stringify(last, undefined, 1)}`);
    });
  }

  /** Returns its Exposure; undefined if there is none. */
  async exposure(): Promise<Exposure | undefined> {
    const { name, namespace } = this.object.metadata;
    return this.#management.get<Exposure>('exposure', name, namespace);
  }

  /** Waits until its Exposure is gone. */
  async unexposed(deadlineMs = 60_000): Promise<void> {
    await waitFor('the Exposure is gone', async () => (await this.exposure()) === undefined, {
      deadlineMs,
      everyMs: 250,
    });
  }
}
