/**
 * Probes the path of clients to each tenant: soon after a change, then every minute, and less often while nothing changes.
 */
import type { Clock } from '../clock/clock.ts';
import { backoffMs } from '../kube/backoff.ts';
import { WorkQueue } from '../kube/work-queue.ts';
import type { HopResult } from '../probe/hop.ts';
import type { Lookup } from '../probe/hops/dns.ts';
import { AgentCheck, type AgentClient } from '../probe/hops/agents.ts';
import { probeExposure, type ProbeTarget } from '../probe/probe-exposure.ts';
import type { Logger } from '../telemetry/log.ts';

/** Probes one Exposure, as {@link probeExposure} does. */
export type Probe = typeof probeExposure;

interface ProbeSchedulerOptions {
  readonly log: Logger;
  /** Called when the hops of an Exposure have changed. */
  readonly onChange: (exposure: string) => void;
  /** The time between two probes of an Exposure after a change. It doubles while nothing changes. Default: 60,000. */
  readonly periodMs?: number | undefined;
  /** Returns the client of the tenant of an Exposure; undefined if there is no connection. */
  readonly tenantClient: (exposure: string) => AgentClient | undefined;
  /** Default: the resolver of this machine. */
  readonly lookup?: Lookup | undefined;
  /** Default: `probeExposure` over the network. */
  readonly probe?: Probe | undefined;
  readonly clock: Clock;
  /** From 0 to 1, for jitter. */
  readonly random: () => number;
}

/** The maximum number of concurrent probes. Each opens several connections, with TLS handshakes. */
const CONCURRENCY = 8;
/** The maximum number of concurrent probes of failing targets. They take the longest, so they run in a slow lane. */
const SLOW_LANE_CONCURRENCY = 8;
const OVERDUE_RUNS = { limitMs: 500, extraSlots: 56 };
/** The delay before the first probe of a target, because an edge takes a moment to load a new route. */
const FIRST_PROBE_MS = 1_000;
/** A failing target is probed more often: users and controllers are fixing it. */
const FAILING_BACKOFF = { firstMs: 1_000, maxMs: 60_000 };
/** The longest delay until a failure is reported: probes must detect an edge that is up half of the time. */
const SUSPECT_MS = 10_000;

/** A target that was never reachable is reported as failing after this many failures in a row. */
const FIRST_FAILURES = 2;
/** A target that was reachable is reported as failing after this many failures in a row, over at least this time. */
const DAMPED_FAILURES = 3;
const DAMPED_MS = 30_000;

/** The longest period, as a multiple of the shortest. */
const MAX_BACKOFF = 10;

interface ScheduledProbe {
  target: ProbeTarget;
  readonly agents: AgentCheck;
  /** The delay until the next probe while all hops pass. */
  periodMs: number;
  /** The target that was probed for {@link hops}. */
  probed: ProbeTarget | undefined;
  hops: readonly HopResult[] | undefined;
  /** Whether the last reported result for {@link target} had no failure. */
  wasReachable: boolean;
  /** The number of consecutive failures. */
  failures: number;
  /** The time of the first of these failures. */
  failingSinceMs: number;
}

/** Schedules and runs the probes of all Exposures. */
export class ProbeScheduler {
  readonly #options: ProbeSchedulerOptions;
  readonly #scheduled = new Map<string, ScheduledProbe>();
  readonly #queue: WorkQueue;

  constructor(options: ProbeSchedulerOptions) {
    this.#options = options;
    this.#queue = new WorkQueue({
      clock: options.clock,
      random: options.random,
      onFailure: ({ key, error }) =>
        options.log.error('internal error in a probe', { exposure: key, error }),
    });
  }

  get #periodMs(): number {
    return this.#options.periodMs ?? 60_000;
  }

  /** Returns the hops of the last probe of an Exposure; undefined before the first probe. */
  hopsOf(exposure: string): readonly HopResult[] | undefined {
    return this.#scheduled.get(exposure)?.hops;
  }

  /** Reports whether {@link hopsOf} is the result for the current target. */
  isUpToDate(exposure: string): boolean {
    const scheduled = this.#scheduled.get(exposure);
    return scheduled !== undefined && scheduled.probed === scheduled.target;
  }

  /** Reports whether the last probes failed and the failure is not reported yet. */
  isSuspect(exposure: string): boolean {
    const scheduled = this.#scheduled.get(exposure);
    return scheduled !== undefined && isSuspect(scheduled);
  }

  /**
   * Sets the target of the probes of an Exposure. A new target is probed soon. `wasReachable` is true if a previous process
   * found this target reachable.
   */
  setTarget(exposure: string, target: ProbeTarget, wasReachable = false): void {
    const scheduled = this.#scheduled.get(exposure);
    if (scheduled === undefined) {
      this.#scheduled.set(exposure, {
        target,
        agents: new AgentCheck(() => this.#options.tenantClient(exposure)),
        periodMs: this.#periodMs,
        probed: undefined,
        hops: undefined,
        wasReachable,
        failures: 0,
        failingSinceMs: 0,
      });
    } else {
      if (Bun.deepEquals(scheduled.target, target)) return;
      scheduled.target = target;
      scheduled.periodMs = this.#periodMs;
      scheduled.wasReachable = false;
      scheduled.failures = 0;
    }
    this.#queue.addAfter(exposure, Math.min(FIRST_PROBE_MS, this.#periodMs));
  }

  /** Resets the period to the shortest one, because something else about the Exposure has changed. */
  hasten(exposure: string): void {
    const scheduled = this.#scheduled.get(exposure);
    if (scheduled === undefined || scheduled.periodMs === this.#periodMs) return;
    scheduled.periodMs = this.#periodMs;
    this.#queue.addAfter(exposure, this.#jittered(scheduled.periodMs));
  }

  /** Removes the target of an Exposure. */
  forget(exposure: string): void {
    this.#scheduled.delete(exposure);
    this.#queue.forget(exposure);
  }

  /** Runs probes until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#queue.run((exposure) => this.#probe(exposure, signal), {
      concurrency: CONCURRENCY,
      signal,
      overdueRuns: OVERDUE_RUNS,
      slowLane: {
        concurrency: SLOW_LANE_CONCURRENCY,
        isSlow: (exposure) => (this.#scheduled.get(exposure)?.failures ?? 0) > 0,
      },
    });
  }

  async #probe(exposure: string, signal: AbortSignal): Promise<void> {
    const scheduled = this.#scheduled.get(exposure);
    if (scheduled === undefined) return;
    const { lookup, probe = probeExposure, onChange } = this.#options;
    const { target } = scheduled;
    const hops = await probe(target, {
      signal,
      lookup,
      agents: scheduled.agents,
      now: this.#options.clock.now(),
      clock: this.#options.clock,
    });
    // The result is for a previous target. The new target is already queued.
    if (this.#scheduled.get(exposure) !== scheduled || scheduled.target !== target) return;
    const wasSuspect = isSuspect(scheduled);
    const nowMs = this.#options.clock.nowMs();
    const isFailing = hops.some(isFailed);
    if (isFailing && scheduled.failures === 0) scheduled.failingSinceMs = nowMs;
    scheduled.failures = isFailing ? scheduled.failures + 1 : 0;
    const isSame = scheduled.probed === target && Bun.deepEquals(hops, scheduled.hops);
    const isSteady =
      isSame && !isFailing && !hops.some(({ code }) => code === 'CertificateExpiresSoon');
    scheduled.periodMs = isSteady
      ? Math.min(2 * scheduled.periodMs, MAX_BACKOFF * this.#periodMs)
      : this.#periodMs;
    this.#queue.addAfter(exposure, this.#nextMs(scheduled, nowMs));
    if (isFailing && !isConfirmed(scheduled, nowMs)) return;
    Object.assign(scheduled, { hops, probed: target, wasReachable: !isFailing });
    // The end of a suspected failure is reported too, because a move between Edges or hosts waits for it.
    if (!isSame || wasSuspect) onChange(exposure);
  }

  #nextMs(scheduled: ScheduledProbe, nowMs: number): number {
    const { failures } = scheduled;
    if (failures === 0) return this.#jittered(scheduled.periodMs);
    const delayMs = backoffMs(failures, this.#options.random(), FAILING_BACKOFF);
    return Math.min(this.#periodMs, isConfirmed(scheduled, nowMs) ? Infinity : SUSPECT_MS, delayMs);
  }

  /** Returns the period with jitter, so that the probes of a thousand Exposures do not run at the same time. */
  #jittered(periodMs: number): number {
    return periodMs * (0.8 + 0.4 * this.#options.random());
  }
}

/** An inconclusive check is damped and repeated like a failure, because most are one lost request. */
function isFailed({ state, code }: HopResult): boolean {
  return state === 'Fail' || code === 'AgentCheckInconclusive';
}

/** Whether failures are reported: one lost connection, or an edge that flaps, does not change the status. */
function isConfirmed(
  { wasReachable, failures, failingSinceMs }: ScheduledProbe,
  nowMs: number,
): boolean {
  return wasReachable
    ? failures >= DAMPED_FAILURES && nowMs - failingSinceMs >= DAMPED_MS
    : failures >= FIRST_FAILURES;
}

/** One failure may be a lost connection. */
function isSuspect({ wasReachable, failures }: ScheduledProbe): boolean {
  return wasReachable && failures > 1;
}
