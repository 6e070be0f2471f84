/** Watches the Exposures as a user would, and records when each reaches a stage. */
import type { KubeClient } from '../../../src/kube/client/client.ts';
import { Informer } from '../../../src/kube/informer/informer.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { RESOURCES } from '../../../src/kube/resource.ts';
import { NAMESPACE } from '../plan.ts';
import type { ExposureStatus } from '../../../src/api/exposure.ts';

/** An Exposure with its status. */
export interface ObservedExposure extends KubeObject {
  readonly status?: ExposureStatus;
}

/** A stage of an Exposure. */
export type Stage = 'routed' | 'WorkersReady' | 'Ready';

/** A watch of all Exposures. */
export class Exposures implements Disposable {
  readonly #informer: Informer<ObservedExposure>;
  readonly #stop = new AbortController();
  /**
   * Names of the Exposures that have reached each stage, updated per event. Counting all Exposures at each event would
   * take more CPU time than the operator.
   */
  readonly #reached: Readonly<Record<Stage, Set<string>>> = {
    routed: new Set(),
    WorkersReady: new Set(),
    Ready: new Set(),
  };

  private constructor(informer: Informer<ObservedExposure>) {
    this.#informer = informer;
  }

  static async watch(client: KubeClient): Promise<Exposures> {
    const exposures = new Exposures(new Informer({ client, resource: RESOURCES.exposure }));
    exposures.#informer.onChange(({ type, object }) =>
      exposures.#update(object.metadata.name, type === 'DELETED' ? undefined : object),
    );
    void exposures.#informer.run(exposures.#stop.signal);
    await exposures.#informer.synced(exposures.#stop.signal);
    return exposures;
  }

  /** Returns how many Exposures have reached the stage. */
  count(stage: Stage): number {
    return this.#reached[stage].size;
  }

  /** Returns the reasons of the Exposures that have not reached the stage, with their counts. */
  obstacles(stage: Stage): string {
    const reasons = new Map<string, number>();
    for (const { status } of this.#informer
      .list()
      .filter((exposure) => !hasReached(exposure, stage))) {
      const condition = status?.conditions?.find(({ type }) => type === stage);
      const text = condition === undefined ? 'no status' : condition.reason;
      reasons.set(text, (reasons.get(text) ?? 0) + 1);
    }
    return [...reasons].map(([text, count]) => `${count} ${text}`).join(', ');
  }

  /** Waits until this many Exposures have reached the stage. Returns the time in milliseconds since 1970. */
  async untilReached(stage: Stage, count: number, deadlineMs: number): Promise<number> {
    return this.#until(
      () => this.count(stage) >= count,
      deadlineMs,
      () =>
        `${this.count(stage)} of ${count} Exposures are ${stage}; other Exposures: ${this.obstacles(stage)}`,
    );
  }

  /** Waits until this Exposure has reached the stage. Returns the time in milliseconds since 1970. */
  async untilOneReached(name: string, stage: Stage, deadlineMs: number): Promise<number> {
    const find = () => this.#informer.get({ name, namespace: NAMESPACE });
    return this.#until(
      () => this.#reached[stage].has(name),
      deadlineMs,
      () => `Exposure ${name} is not ${stage}: ${JSON.stringify(find()?.status?.conditions)}`,
    );
  }

  #update(name: string, exposure: ObservedExposure | undefined): void {
    for (const [stage, names] of Object.entries(this.#reached)) {
      if (hasReached(exposure, stage as Stage)) names.add(name);
      else names.delete(name);
    }
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
  }

  async #until(
    isMet: () => boolean,
    deadlineMs: number,
    failureText: () => string,
  ): Promise<number> {
    if (isMet()) return Date.now();
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const stop = this.#informer.onChange(() => {
      if (isMet()) resolve(Date.now());
    });
    const timer = setTimeout(() => reject(new Error(failureText())), deadlineMs);
    return promise.finally(() => {
      stop();
      clearTimeout(timer);
    });
  }
}

function hasReached(exposure: ObservedExposure | undefined, stage: Stage): boolean {
  const { status } = exposure ?? {};
  const type = stage === 'routed' ? 'Routed' : stage;
  return (
    status?.conditions?.some(
      (condition) => condition.type === type && condition.status === 'True',
    ) === true
  );
}
