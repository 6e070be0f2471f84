/**
 * Probes every Exposure once in a while, as its clients would find it: soon after a change, then every minute.
 */
import { systemClock, type Clock } from '../clock/clock.ts';
import { backoffMs } from '../kube/backoff.ts';
import { WorkQueue } from '../kube/work-queue.ts';
import type { HopResult } from '../probe/hop.ts';
import type { Lookup } from '../probe/hops/dns.ts';
import { probeExposure, type ProbeTarget } from '../probe/probe-exposure.ts';
import type { Logger } from '../telemetry/log.ts';

/** Probes one Exposure, as {@link probeExposure} does. */
export type Probe = typeof probeExposure;

/** Options of {@link ProbeRounds}. */
export interface ProbeRoundsOptions {
  readonly log: Logger;
  /** An Exposure's hops are not what they were. */
  readonly onChange: (exposure: string) => void;
  /** Between two probes of one Exposure while all is well. Default 60,000. */
  readonly periodMs?: number | undefined;
  /** Default: the resolver of this machine. */
  readonly lookup?: Lookup | undefined;
  /** Default: `probeExposure` over the network. */
  readonly probe?: Probe | undefined;
  /** Default: the clock of the machine. */
  readonly clock?: Clock | undefined;
  /** From 0 to 1, for the spread of delays. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
}

/** Each probe opens some connections and handshakes: not all tenants at once. */
const CONCURRENCY = 8;
/** Those where nobody answers take the longest: they have places of their own. */
const FAILING_AT_A_TIME = 8;
const PATIENCE = { limitMs: 500, places: 56 };
/** An edge takes a moment to learn of a route. */
const FIRST_MS = 1_000;
/** While something fails, it is looked at more often: people and controllers are at work. */
const FAILING_BACKOFF = { firstMs: 1_000, maxMs: 60_000 };

interface Round {
  target: ProbeTarget;
  /** What {@link hops} are about. */
  probed: ProbeTarget | undefined;
  hops: readonly HopResult[] | undefined;
  failures: number;
}

/** The probes of all Exposures. */
export class ProbeRounds {
  readonly #options: ProbeRoundsOptions;
  readonly #rounds = new Map<string, Round>();
  readonly #queue: WorkQueue;
  readonly #clock: Clock;
  readonly #random: () => number;

  constructor(options: ProbeRoundsOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#queue = new WorkQueue({
      clock: options.clock,
      random: options.random,
      onFailure: ({ key, error }) =>
        options.log.error('a probe failed by itself', { exposure: key, error }),
    });
  }

  get #periodMs(): number {
    return this.#options.periodMs ?? 60_000;
  }

  /** What the last probe of an Exposure found; nothing before the first. */
  hopsOf(exposure: string): readonly HopResult[] | undefined {
    return this.#rounds.get(exposure)?.hops;
  }

  /** Whether that is about what is aimed at now. */
  isUpToDate(exposure: string): boolean {
    const round = this.#rounds.get(exposure);
    return round !== undefined && round.probed === round.target;
  }

  /** Probes this from now on; soon if it is another target than before. */
  aim(exposure: string, target: ProbeTarget): void {
    const round = this.#rounds.get(exposure);
    if (round === undefined) {
      this.#rounds.set(exposure, { target, probed: undefined, hops: undefined, failures: 0 });
    } else {
      if (Bun.deepEquals(round.target, target)) return;
      round.target = target;
      round.failures = 0;
    }
    this.#queue.addAfter(exposure, Math.min(FIRST_MS, this.#periodMs));
  }

  forget(exposure: string): void {
    this.#rounds.delete(exposure);
    this.#queue.forget(exposure);
  }

  /** Probes until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#queue.run((exposure) => this.#probe(exposure, signal), {
      ...{ concurrency: CONCURRENCY, signal, patience: PATIENCE },
      slowLane: {
        concurrency: FAILING_AT_A_TIME,
        isSlow: (exposure) => (this.#rounds.get(exposure)?.failures ?? 0) > 0,
      },
    });
  }

  async #probe(exposure: string, signal: AbortSignal): Promise<void> {
    const round = this.#rounds.get(exposure);
    if (round === undefined) return;
    const { lookup, probe = probeExposure, onChange } = this.#options;
    const { target } = round;
    const hops = await probe(target, {
      signal,
      lookup,
      now: this.#clock.now(),
      clock: this.#clock,
    });
    if (this.#rounds.get(exposure) !== round) return;
    round.failures = hops.some(({ state }) => state === 'Fail') ? round.failures + 1 : 0;
    // Spread out, so that a thousand Exposures do not come in step.
    const nextMs =
      round.failures > 0
        ? Math.min(this.#periodMs, backoffMs(round.failures, this.#random(), FAILING_BACKOFF))
        : this.#periodMs * (0.8 + 0.4 * this.#random());
    this.#queue.addAfter(exposure, nextMs);
    // Believed if it fails again: a connection that is lost once is no news.
    if (round.failures === 1) return;
    const isSame = round.probed === target && Bun.deepEquals(hops, round.hops);
    Object.assign(round, { hops, probed: target });
    if (!isSame) onChange(exposure);
  }
}
