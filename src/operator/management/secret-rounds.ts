/**
 * Looks after Secrets by name. To watch them would need the right to read all that there are, so each that an Exposure
 * rests on is read again now and then, and the Exposure looked at if it is another.
 */
import type { Clock } from '../../clock/clock.ts';
import { keyText, type KubeObject, type ObjectKey } from '../../kube/object.ts';
import { WorkQueue } from '../../kube/work-queue.ts';
import type { Logger } from '../../telemetry/log.ts';

/** A Secret as it was when an Exposure was looked at. */
export interface SeenSecret {
  readonly key: ObjectKey;
  /** Absent: there was none. */
  readonly version: string | undefined;
}

/** Options of {@link SecretRounds}. */
export interface SecretRoundsOptions {
  readonly log: Logger;
  /** As the server has it now. @throws KubeError */
  readonly read: (key: ObjectKey, signal: AbortSignal) => Promise<KubeObject | undefined>;
  /** Between two rounds for one Exposure. */
  readonly periodMs: number;
  /** A Secret of this Exposure is not what it was. */
  readonly onChange: (exposure: string) => void;
  /** Default: the clock of the machine. */
  readonly clock?: Clock | undefined;
  /** From 0 to 1, for the spread of delays. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
}

/** They are read one by one: that nobody waits for it is the point. */
const CONCURRENCY = 2;

/** The Secrets of all Exposures. */
export class SecretRounds {
  readonly #options: SecretRoundsOptions;
  readonly #seen = new Map<string, readonly SeenSecret[]>();
  readonly #queue: WorkQueue;
  readonly #random: () => number;

  constructor(options: SecretRoundsOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
    this.#queue = new WorkQueue({
      clock: options.clock,
      random: options.random,
      onFailure: ({ key, error, retryInMs }) =>
        options.log.debug('Secrets cannot be read', { exposure: key, error, retryInMs }),
    });
  }

  /** These are what an Exposure rests on, from now on. */
  follow(exposure: string, secrets: readonly SeenSecret[]): void {
    this.#seen.set(exposure, secrets);
    this.#plan(exposure);
  }

  forget(exposure: string): void {
    this.#seen.delete(exposure);
    this.#queue.forget(exposure);
  }

  /** Makes rounds until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#queue.run((exposure) => this.#round(exposure, signal), {
      ...{ concurrency: CONCURRENCY, signal },
    });
  }

  /** Spread out, so that a thousand Exposures do not come in step. */
  #plan(exposure: string): void {
    this.#queue.addAfter(exposure, this.#options.periodMs * (0.9 + 0.2 * this.#random()));
  }

  async #round(exposure: string, signal: AbortSignal): Promise<void> {
    const secrets = this.#seen.get(exposure);
    if (secrets === undefined) return;
    for (const { key, version } of secrets) {
      const found = await this.#options.read(key, signal);
      // Looked at meanwhile: what was seen then is compared the next time.
      if (this.#seen.get(exposure) !== secrets) break;
      if (found?.metadata.resourceVersion === version) continue;
      this.#options.log.info('a Secret has changed', { exposure, secret: keyText(key) });
      this.#options.onChange(exposure);
      break;
    }
    if (this.#seen.has(exposure)) this.#plan(exposure);
  }
}
