/** The Exposures as a user watches them, with the time at which each got as far as is asked. */
import type { KubeClient } from '../../../src/kube/client/client.ts';
import { Informer } from '../../../src/kube/informer/informer.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { RESOURCES } from '../../../src/kube/resource.ts';
import { NAMESPACE } from '../plan.ts';
import type { ExposureStatus } from '../../../src/api/exposure.ts';

/** An Exposure with its status. */
export interface SeenExposure extends KubeObject {
  readonly status?: ExposureStatus;
}

/** How far an Exposure has come. */
export type Stage = 'routed' | 'WorkersReady' | 'Ready';

/** A watch of all Exposures. */
export class Exposures implements Disposable {
  readonly #informer: Informer<SeenExposure>;
  readonly #ended = new AbortController();
  /** The names of those that have come so far: counting all of them at each event would take more than the operator does. */
  readonly #reached: Readonly<Record<Stage, Set<string>>> = {
    routed: new Set(),
    WorkersReady: new Set(),
    Ready: new Set(),
  };

  private constructor(informer: Informer<SeenExposure>) {
    this.#informer = informer;
  }

  static async watch(client: KubeClient): Promise<Exposures> {
    const exposures = new Exposures(new Informer({ client, resource: RESOURCES.exposure }));
    exposures.#informer.onChange(({ type, object }) =>
      exposures.#note(object.metadata.name, type === 'DELETED' ? undefined : object),
    );
    void exposures.#informer.run(exposures.#ended.signal);
    await exposures.#informer.synced(exposures.#ended.signal);
    return exposures;
  }

  /** How many have come so far. */
  count(stage: Stage): number {
    return this.#reached[stage].size;
  }

  /** Why those that have not come so far say they have not, with how many say it. */
  obstacles(stage: Stage): string {
    const reasons = new Map<string, number>();
    for (const { status } of this.#informer.list().filter((one) => !hasReached(one, stage))) {
      const condition = status?.conditions?.find(({ type }) => type === stage);
      const text = condition === undefined ? 'no status' : condition.reason;
      reasons.set(text, (reasons.get(text) ?? 0) + 1);
    }
    return [...reasons].map(([text, count]) => `${count} ${text}`).join(', ');
  }

  /** Waits until so many have come so far; when that was, in milliseconds since 1970. */
  async reached(stage: Stage, count: number, deadlineMs: number): Promise<number> {
    return this.#until(
      () => this.count(stage) >= count,
      deadlineMs,
      () =>
        `${this.count(stage)} of ${count} Exposures are ${stage}; the others: ${this.obstacles(stage)}`,
    );
  }

  /** Waits until this one has come so far; when that was. */
  async one(name: string, stage: Stage, deadlineMs: number): Promise<number> {
    const find = () => this.#informer.get({ name, namespace: NAMESPACE });
    return this.#until(
      () => this.#reached[stage].has(name),
      deadlineMs,
      () => `Exposure ${name} is not ${stage}: ${JSON.stringify(find()?.status?.conditions)}`,
    );
  }

  #note(name: string, exposure: SeenExposure | undefined): void {
    for (const [stage, names] of Object.entries(this.#reached)) {
      if (hasReached(exposure, stage as Stage)) names.add(name);
      else names.delete(name);
    }
  }

  [Symbol.dispose](): void {
    this.#ended.abort();
  }

  async #until(isSo: () => boolean, deadlineMs: number, otherwise: () => string): Promise<number> {
    if (isSo()) return Date.now();
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const stop = this.#informer.onChange(() => {
      if (isSo()) resolve(Date.now());
    });
    const timer = setTimeout(() => reject(new Error(otherwise())), deadlineMs);
    return promise.finally(() => {
      stop();
      clearTimeout(timer);
    });
  }
}

function hasReached(exposure: SeenExposure | undefined, stage: Stage): boolean {
  const { status } = exposure ?? {};
  const type = stage === 'routed' ? 'Routed' : stage;
  return status?.conditions?.some((one) => one.type === type && one.status === 'True') === true;
}
