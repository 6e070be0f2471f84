/**
 * Polls the Secrets that Exposures depend on. A watch would need permission to read every Secret, so each is read again by
 * name, and its Exposure is reconciled when the Secret has changed.
 */
import type { Clock } from '../../clock/clock.ts';
import { keyText, type KubeObject, type ObjectKey } from '../../kube/object.ts';
import { WorkQueue } from '../../kube/work-queue.ts';
import type { ReadSecret } from '../../reconcile/observe.ts';
import type { Logger } from '../../telemetry/log.ts';

interface SecretPollerOptions {
  readonly log: Logger;
  /** Reads the Secret from the API server, past any cache. @throws KubeError */
  readonly read: (key: ObjectKey, signal: AbortSignal) => Promise<KubeObject | undefined>;
  /** Between two reads of the Secrets of one Exposure. */
  readonly periodMs: number;
  /** The period doubles while nothing changes, up to this. */
  readonly maxPeriodMs: number;
  /** Called when a Secret of this Exposure has changed. */
  readonly onChange: (exposure: string) => void;
  readonly clock: Clock;
  /** From 0 to 1, for jitter. */
  readonly random: () => number;
}

/** Nothing waits for these reads. */
const CONCURRENCY = 2;

interface Polled {
  readonly secrets: readonly ReadSecret[];
  readonly periodMs: number;
}

/** The Secrets of all Exposures. */
export class SecretPoller {
  readonly #options: SecretPollerOptions;
  readonly #polled = new Map<string, Polled>();
  readonly #queue: WorkQueue;

  constructor(options: SecretPollerOptions) {
    this.#options = options;
    this.#queue = new WorkQueue({
      clock: options.clock,
      random: options.random,
      onFailure: ({ key, error, retryInMs }) =>
        options.log.debug('failed to read Secrets', { exposure: key, error, retryInMs }),
    });
  }

  /** Polls these Secrets for an Exposure from now on. The same Secrets keep their period. */
  follow(exposure: string, secrets: readonly ReadSecret[]): void {
    const known = this.#polled.get(exposure);
    const isSame = known !== undefined && Bun.deepEquals(known.secrets, secrets);
    this.#schedule(exposure, secrets, isSame ? known.periodMs : this.#options.periodMs);
  }

  /** Returns to the shortest period: something else about the Exposure has changed. */
  hasten(exposure: string): void {
    const known = this.#polled.get(exposure);
    if (known === undefined || known.periodMs === this.#options.periodMs) return;
    this.#schedule(exposure, known.secrets, this.#options.periodMs);
  }

  forget(exposure: string): void {
    this.#polled.delete(exposure);
    this.#queue.forget(exposure);
  }

  /** Polls until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#queue.run((exposure) => this.#poll(exposure, signal), {
      concurrency: CONCURRENCY,
      signal,
    });
  }

  /** With jitter, so that a thousand Exposures are not polled in step. */
  #schedule(exposure: string, secrets: readonly ReadSecret[], periodMs: number): void {
    this.#polled.set(exposure, { secrets, periodMs });
    this.#queue.addAfter(exposure, periodMs * (0.9 + 0.2 * this.#options.random()));
  }

  async #poll(exposure: string, signal: AbortSignal): Promise<void> {
    const polled = this.#polled.get(exposure);
    if (polled === undefined) return;
    const { secrets, periodMs } = polled;
    for (const { key, version } of secrets) {
      const found = await this.#options.read(key, signal);
      // A reconcile has read them meanwhile, and has scheduled the next poll.
      if (this.#polled.get(exposure) !== polled) return;
      if (found?.metadata.resourceVersion === version) continue;
      this.#options.log.info('Secret changed', { exposure, secret: keyText(key) });
      this.#options.onChange(exposure);
      this.#schedule(exposure, secrets, this.#options.periodMs);
      return;
    }
    this.#schedule(exposure, secrets, Math.min(2 * periodMs, this.#options.maxPeriodMs));
  }
}
