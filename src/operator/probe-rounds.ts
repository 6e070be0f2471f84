/**
 * Probes the path of clients to each tenant: soon after a change, then every minute, and ever less often while nothing
 * changes.
 */
import { systemClock, type Clock } from '../clock/clock.ts';
import { backoffMs } from '../kube/backoff.ts';
import { WorkQueue } from '../kube/work-queue.ts';
import { EXPIRING_CODES } from '../probe/codes.ts';
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
  /** Between two probes of one Exposure after a change. The period doubles while nothing changes. Default 60,000. */
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
/** Until a failure is reported, probes are at most this far apart: they have to catch an edge that is up half of the time. */
const SUSPECT_MS = 10_000;

/** A target that was never reachable is reported as failing after this many failures in a row. */
const FIRST_FAILURES = 2;
/** A target that was reachable is reported as failing after this many failures in a row, over at least this time. */
const DAMPED_FAILURES = 3;
const DAMPED_MS = 30_000;

/** The longest period, as a multiple of the shortest. */
const MAX_BACKOFF = 10;

interface Round {
  target: ProbeTarget;
  /** Until the next probe, while all is well. */
  periodMs: number;
  /** What {@link hops} are about. */
  probed: ProbeTarget | undefined;
  hops: readonly HopResult[] | undefined;
  /** Whether the last result that was reported for {@link target} had no failure. */
  wasReachable: boolean;
  /** In a row. */
  failures: number;
  /** Time of the first of them. */
  failingSinceMs: number;
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

  /** Whether the last probes failed, and the failure is not reported yet. */
  isSuspect(exposure: string): boolean {
    const round = this.#rounds.get(exposure);
    return round !== undefined && isSuspect(round);
  }

  /**
   * Probes this from now on; soon if it is another target than before. `wasReachable`: an earlier process found this
   * target reachable.
   */
  aim(exposure: string, target: ProbeTarget, wasReachable = false): void {
    const round = this.#rounds.get(exposure);
    if (round === undefined) {
      this.#rounds.set(exposure, {
        target,
        periodMs: this.#periodMs,
        probed: undefined,
        hops: undefined,
        wasReachable,
        failures: 0,
        failingSinceMs: 0,
      });
    } else {
      if (Bun.deepEquals(round.target, target)) return;
      round.target = target;
      round.periodMs = this.#periodMs;
      round.wasReachable = false;
      round.failures = 0;
    }
    this.#queue.addAfter(exposure, Math.min(FIRST_MS, this.#periodMs));
  }

  /** Returns to the shortest period: something else about the Exposure has changed. */
  hasten(exposure: string): void {
    const round = this.#rounds.get(exposure);
    if (round === undefined || round.periodMs === this.#periodMs) return;
    round.periodMs = this.#periodMs;
    this.#queue.addAfter(exposure, this.#jittered(round.periodMs));
  }

  forget(exposure: string): void {
    this.#rounds.delete(exposure);
    this.#queue.forget(exposure);
  }

  /** Probes until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#queue.run((exposure) => this.#probe(exposure, signal), {
      concurrency: CONCURRENCY,
      signal,
      patience: PATIENCE,
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
    // The result of a previous target says nothing about the new one, which is due already.
    if (this.#rounds.get(exposure) !== round || round.target !== target) return;
    const wasSuspect = isSuspect(round);
    const nowMs = this.#clock.nowMs();
    const isFailing = hops.some(({ state }) => state === 'Fail');
    if (isFailing && round.failures === 0) round.failingSinceMs = nowMs;
    round.failures = isFailing ? round.failures + 1 : 0;
    const isSame = round.probed === target && Bun.deepEquals(hops, round.hops);
    const isSteady = isSame && !isFailing && !hops.some(({ code }) => EXPIRING_CODES.has(code));
    round.periodMs = isSteady
      ? Math.min(2 * round.periodMs, MAX_BACKOFF * this.#periodMs)
      : this.#periodMs;
    this.#queue.addAfter(exposure, this.#nextMs(round, nowMs));
    if (isFailing && !isConfirmed(round, nowMs)) return;
    Object.assign(round, { hops, probed: target, wasReachable: !isFailing });
    // A move between Edges or hosts waits while a failure is suspected.
    if (!isSame || wasSuspect) onChange(exposure);
  }

  #nextMs(round: Round, nowMs: number): number {
    const { failures } = round;
    if (failures === 0) return this.#jittered(round.periodMs);
    const delayMs = backoffMs(failures, this.#random(), FAILING_BACKOFF);
    return Math.min(this.#periodMs, isConfirmed(round, nowMs) ? Infinity : SUSPECT_MS, delayMs);
  }

  /** Spread out, so that the probes of a thousand Exposures do not run in step. */
  #jittered(periodMs: number): number {
    return periodMs * (0.8 + 0.4 * this.#random());
  }
}

/** Whether failures are reported: one lost connection, or an edge that flaps, does not change the status. */
function isConfirmed({ wasReachable, failures, failingSinceMs }: Round, nowMs: number): boolean {
  return wasReachable
    ? failures >= DAMPED_FAILURES && nowMs - failingSinceMs >= DAMPED_MS
    : failures >= FIRST_FAILURES;
}

/** One failure may be a lost connection. */
function isSuspect({ wasReachable, failures }: Round): boolean {
  return wasReachable && failures > 1;
}
