/**
 * Probes the edge at a bounded rate. The result is the readiness of the proxy.
 *
 * While the edge is up, the proxy probes it about every ten seconds. After a failure, it probes after one second, two,
 * four and so on, up to thirty. It also probes soon after a dial of a pod has failed. It never probes twice within a
 * second, so that a thousand workers do not overload an edge that is starting.
 */
import type { Clock } from '../../clock/clock.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { ProbeResult } from './edge-probe.ts';

const PERIOD_MS = 10_000;
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 30_000;
const MIN_INTERVAL_MS = 1000;
const TICK_MS = 500;
/** Varies the intervals by a fifth, because all workers start at about the same time. */
const JITTER = 0.2;

interface EdgeHealthOptions {
  /** Probes the edge once. */
  readonly probe: () => Promise<ProbeResult>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Returns a number from 0 to 1. Default: Math.random. */
  readonly random?: (() => number) | undefined;
}

/** The health of the edge. */
export class EdgeHealth {
  readonly #options: EdgeHealthOptions;
  readonly #random: () => number;
  #stopTick: (() => void) | undefined;
  #isProbing = false;
  #probedMs = -Infinity;
  #dueMs = -Infinity;
  #failuresInARow = 0;
  #result: ProbeResult | undefined;
  #successes = 0;
  #failures = 0;

  constructor(options: EdgeHealthOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
  }

  get isUp(): boolean {
    return this.#result?.isUp === true;
  }

  /** Number of successful and failed probes. */
  get counts(): { readonly successes: number; readonly failures: number } {
    return { successes: this.#successes, failures: this.#failures };
  }

  /** Returns why the edge is not up, as a message. Undefined if it is up. */
  reason(): string | undefined {
    if (this.#result !== undefined) return this.#result.isUp ? undefined : this.#result.message;
    return this.#isProbing
      ? 'the first probe of the edge is in progress'
      : 'the edge has not been probed yet';
  }

  start(): void {
    this.#stopTick = this.#options.clock.every(TICK_MS, () => this.#tick());
    this.#tick();
  }

  /** Probes the edge soon. Call it after a failed dial or a change of the edge. */
  suspect(): void {
    this.#dueMs = Math.min(this.#dueMs, this.#probedMs + MIN_INTERVAL_MS);
  }

  stop(): void {
    this.#stopTick?.();
    this.#stopTick = undefined;
  }

  #tick(): void {
    const nowMs = this.#options.clock.nowMs();
    if (this.#isProbing || nowMs < Math.max(this.#dueMs, this.#probedMs + MIN_INTERVAL_MS)) return;
    this.#isProbing = true;
    this.#probedMs = nowMs;
    this.#dueMs = Infinity;
    void this.#probe().finally(() => (this.#isProbing = false));
  }

  async #probe(): Promise<void> {
    const result = await this.#options.probe().catch(faultResult);
    if (this.#stopTick === undefined) return;
    this.#log(result);
    this.#result = result;
    if (result.isUp) this.#successes++;
    else this.#failures++;
    this.#failuresInARow = result.isUp ? 0 : this.#failuresInARow + 1;
    const dueMs = this.#options.clock.nowMs() + this.#pauseMs();
    // A probe that was requested in the meantime stays due.
    this.#dueMs = Math.min(this.#dueMs, dueMs);
  }

  #pauseMs(): number {
    const retryMs = FIRST_RETRY_MS * 2 ** (this.#failuresInARow - 1);
    const pauseMs = this.#failuresInARow === 0 ? PERIOD_MS : Math.min(MAX_RETRY_MS, retryMs);
    return pauseMs * (1 + JITTER * (this.#random() - 0.5));
  }

  /** Logs changes, not each result. */
  #log(result: ProbeResult): void {
    const { log } = this.#options;
    const before = this.#result;
    if (result.isUp) {
      if (before?.isUp !== true) log.info('edge is up');
    } else if (before === undefined || before.isUp || before.code !== result.code) {
      log.warn('edge is down', { code: result.code, error: result.message });
    }
  }
}

/**
 * Converts an exception of the probe to a failure. Otherwise a bug would end the probes, and the readiness would never
 * change again.
 */
function faultResult(error: unknown): ProbeResult {
  const message = error instanceof Error ? error.message : String(error);
  return {
    isUp: false,
    code: 'fault',
    message: `fault: the probe failed because of a bug: ${message}`,
  };
}
