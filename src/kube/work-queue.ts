/**
 * The queue of objects to reconcile, by key. It holds keys and not changes: a reconcile reads the current state. So ten
 * changes to a waiting key cause one run, and the next run covers a missed change.
 */
import { systemClock, type Clock } from '../clock/clock.ts';
import { backoffMs, type BackoffLimits } from './backoff.ts';
import { isKubeError } from './kube-error.ts';
import { Histogram } from '../telemetry/histogram.ts';

/** Reconciles the object of a key. To be called again later, it calls `addAfter`. */
type Reconcile = (key: string, signal: AbortSignal) => Promise<void>;

/** A failed run that will be retried. */
export interface FailedRun {
  readonly key: string;
  readonly error: unknown;
  /** Consecutive failures. */
  readonly failures: number;
  readonly retryInMs: number;
}

interface WorkQueueOptions {
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** From 0 to 1, for jitter. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** The backoff of a failing key. Default 0.5 s to 5 min. */
  readonly backoff?: BackoffLimits;
  /** Called for each failure. The queue retries the run and does not log. */
  readonly onFailure: (run: FailedRun) => void;
}

/** Options of {@link WorkQueue.run}. */
export interface RunOptions {
  /** Maximum number of concurrent runs. A key is never reconciled concurrently. Default 4. */
  readonly concurrency?: number;
  /** Runs slow keys in a separate lane with its own concurrency. Default: none. */
  readonly slowLane?: SlowLane;
  /** Frees the slot of a run that takes long, so that another key can run. Default: never. */
  readonly overdueRuns?: OverdueRuns;
  /** Stops the queue. Running reconciles receive the signal and are awaited. Waiting keys stay. */
  readonly signal: AbortSignal;
}

/** The lane for keys that are known to take long. They delay only each other. */
interface SlowLane {
  readonly concurrency: number;
  /** Called when the key becomes ready, and again before it runs. */
  readonly isSlow: (key: string) => boolean;
}

/** Limits for runs that unexpectedly take long. */
interface OverdueRuns {
  /** A run that takes longer is overdue. */
  readonly limitMs: number;
  /** The maximum number of overdue runs that do not count towards the concurrency. */
  readonly extraSlots: number;
}

/** Numbers for metrics. Totals are since the process start. */
interface WorkQueueNumbers {
  /** Keys that are ready to run. */
  readonly depth: number;
  /** Keys that are delayed. */
  readonly delayed: number;
  readonly adds: number;
  readonly retries: number;
  readonly running: number;
  /** Age of the longest-running reconcile, in seconds. 0 if there is none. */
  readonly longestRunningSeconds: number;
  readonly runs: number;
}

/** The first delay suits transient failures, the maximum suits failures that a user has to fix. */
const RECONCILE_BACKOFF: BackoffLimits = { firstMs: 500, maxMs: 300_000 };

/** Maximum `Retry-After` that is honored. */
const MAX_RETRY_AFTER_MS = 300_000;

/** The maximum delay of a timer. A longer delay is truncated, since an early run does no harm. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** Keys that are ready to run, in order of arrival. */
class Lane {
  /** Keys with the time when they became ready. */
  readonly #keys = new Map<string, number>();
  readonly #prioritized = new Set<string>();

  get size(): number {
    return this.#keys.size;
  }

  get hasPrioritized(): boolean {
    return this.#prioritized.size > 0;
  }

  /** When the first key became ready. */
  get firstReadyMs(): number {
    return this.#keys.values().next().value ?? Infinity;
  }

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  readyMs(key: string): number {
    return this.#keys.get(key) ?? 0;
  }

  add(key: string, readyMs: number, isPrioritized: boolean): void {
    if (!this.#keys.has(key)) this.#keys.set(key, readyMs);
    if (isPrioritized) this.#prioritized.add(key);
  }

  delete(key: string): void {
    this.#keys.delete(key);
    this.#prioritized.delete(key);
  }

  first(prefersPrioritized: boolean): string | undefined {
    const prioritized = prefersPrioritized ? this.#prioritized.values().next().value : undefined;
    return prioritized ?? this.#keys.keys().next().value;
  }
}

/** A queue of keys to reconcile. */
export class WorkQueue {
  /** Seconds from when a key was ready until it ran. */
  readonly queueDurations = new Histogram();
  /** Seconds per run. */
  readonly durations = new Histogram();
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #backoff: BackoffLimits;
  readonly #onFailure: (run: FailedRun) => void;
  readonly #ready = new Lane();
  /** Keys for the slow lane. Separate, so that a search for them does not scan all others. */
  readonly #readySlow = new Lane();
  /** Prioritized keys. */
  readonly #prioritized = new Set<string>();
  readonly #delayed = new Map<string, { readonly dueMs: number; readonly cancel: () => void }>();
  /** Keys with the start time of their run. */
  readonly #running = new Map<string, number>();
  /** Running keys in the slow lane. */
  readonly #slow = new Set<string>();
  /** Running keys outside the slow lane that are overdue. */
  readonly #overdue = new Set<string>();
  /** Keys added while running, with the time. They run once more. */
  readonly #requeued = new Map<string, number>();
  /** Consecutive failures by key. */
  readonly #failures = new Map<string, number>();
  readonly #totals = { adds: 0, retries: 0, runs: 0 };
  #prefersPrioritized = false;
  #isSlow: (key: string) => boolean = () => false;
  #wake: () => void = () => {};
  #hasRun = false;

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#backoff = options.backoff ?? RECONCILE_BACKOFF;
    this.#onFailure = options.onFailure;
  }

  /**
   * Runs the key as soon as there is room. A key that is backing off runs immediately too, since something has changed.
   */
  add(key: string): void {
    this.#totals.adds++;
    const nowMs = this.#clock.nowMs();
    if (!this.#running.has(key)) this.#markReady(key, nowMs);
    else if (!this.#requeued.has(key)) this.#requeued.set(key, nowMs);
    this.#wake();
  }

  #markReady(key: string, readyMs: number): void {
    const isSlow = this.#readySlow.has(key) || (!this.#ready.has(key) && this.#isSlow(key));
    (isSlow ? this.#readySlow : this.#ready).add(key, readyMs, this.#prioritized.has(key));
  }

  /**
   * Runs the key before the keys that `add` has added. Every other turn goes to the key that has waited longest, so that
   * frequently prioritized keys do not starve the others.
   */
  addPrioritized(key: string): void {
    this.#prioritized.add(key);
    this.add(key);
  }

  /**
   * Runs the key after a delay. If the key is delayed already, the earlier time wins. A run that starts earlier cancels
   * the delay: it observes the current state, and decides when to run again.
   */
  addAfter(key: string, delayMs: number): void {
    if (delayMs <= 0) {
      this.add(key);
      return;
    }
    const ms = Math.min(delayMs, MAX_DELAY_MS);
    const dueMs = this.#clock.nowMs() + ms;
    const delayed = this.#delayed.get(key);
    if (delayed !== undefined && delayed.dueMs <= dueMs) return;
    delayed?.cancel();
    const cancel = this.#clock.after(ms, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { dueMs, cancel });
  }

  /** Drops a deleted key and everything planned for it. A current run is not aborted. */
  forget(key: string): void {
    this.#cancelDelay(key);
    this.#ready.delete(key);
    this.#readySlow.delete(key);
    this.#prioritized.delete(key);
    this.#requeued.delete(key);
    this.#failures.delete(key);
  }

  /** Returns the current numbers. */
  numbers(): WorkQueueNumbers {
    const first = this.#running.values().next().value;
    return {
      ...this.#totals,
      depth: this.#ready.size + this.#readySlow.size,
      delayed: this.#delayed.size,
      running: this.#running.size,
      longestRunningSeconds: first === undefined ? 0 : (this.#clock.nowMs() - first) / 1000,
    };
  }

  /**
   * Runs until the signal aborts, and returns when the last run has ended. A run that throws is retried with backoff.
   *
   * @throws TypeError if called twice, since two workers could run one key at the same time.
   */
  async run(reconcile: Reconcile, options: RunOptions): Promise<void> {
    const { signal } = options;
    if (this.#hasRun) throw new TypeError('a work queue can only be run once');
    this.#hasRun = true;
    this.#isSlow = (key) => options.slowLane?.isSlow(key) ?? false;
    const runs = new Set<Promise<void>>();
    const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
    const start = () => {
      while (!signal.aborted) {
        const key = this.#next(options);
        if (key === undefined) return;
        const stopTimer = this.#startOverdueTimer(key, options.overdueRuns);
        const run = this.#runOne(key, reconcile, signal).finally(() => {
          stopTimer();
          runs.delete(run);
          start();
        });
        runs.add(run);
      }
    };
    this.#wake = start;
    signal.addEventListener('abort', () => stop(), { once: true });
    if (signal.aborted) stop();
    start();
    await stopped;
    this.#wake = () => {};
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    await Promise.all(runs);
  }

  #next({ concurrency = 4, slowLane, overdueRuns }: RunOptions): string | undefined {
    const overdueSlots = Math.min(this.#overdue.size, overdueRuns?.extraSlots ?? 0);
    const hasRoom = this.#running.size - this.#slow.size - overdueSlots < concurrency;
    const hasSlowRoom = this.#slow.size < (slowLane?.concurrency ?? 0);
    if (!hasRoom && !hasSlowRoom) return undefined;
    this.#prefersPrioritized = !this.#prefersPrioritized;
    for (;;) {
      const lane = this.#nextLane(hasRoom, hasSlowRoom);
      const key = lane?.first(this.#prefersPrioritized);
      if (lane === undefined || key === undefined) return undefined;
      const readyMs = lane.readyMs(key);
      lane.delete(key);
      // The key may have become slow, or stopped being slow, since it was added.
      const isSlow = this.#isSlow(key);
      if (isSlow && !hasSlowRoom) {
        this.#readySlow.add(key, readyMs, this.#prioritized.has(key));
        continue;
      }
      this.queueDurations.observe((this.#clock.nowMs() - readyMs) / 1000);
      this.#prioritized.delete(key);
      if (isSlow || !hasRoom) this.#slow.add(key);
      return key;
    }
  }

  /** Returns the lane with room whose next key has waited longest. */
  #nextLane(hasRoom: boolean, hasSlowRoom: boolean): Lane | undefined {
    const lanes = [...(hasRoom ? [this.#ready] : []), ...(hasSlowRoom ? [this.#readySlow] : [])];
    const filled = lanes.filter(({ size }) => size > 0);
    const [first, second] = filled;
    if (first === undefined || second === undefined) return first;
    const priorityDecides =
      this.#prefersPrioritized && first.hasPrioritized !== second.hasPrioritized;
    if (priorityDecides) return first.hasPrioritized ? first : second;
    return second.firstReadyMs < first.firstReadyMs ? second : first;
  }

  /** Starts the timer for an overdue run. Returns a function that stops it. */
  #startOverdueTimer(key: string, overdueRuns: OverdueRuns | undefined): () => void {
    if (overdueRuns === undefined || this.#slow.has(key)) return () => {};
    return this.#clock.after(overdueRuns.limitMs, () => {
      this.#overdue.add(key);
      this.#wake();
    });
  }

  async #runOne(key: string, reconcile: Reconcile, signal: AbortSignal): Promise<void> {
    const startedMs = this.#clock.nowMs();
    this.#running.set(key, startedMs);
    this.#cancelDelay(key);
    try {
      await reconcile(key, signal);
      this.#failures.delete(key);
    } catch (error) {
      // An error during shutdown is not a failure: the queue has stopped.
      if (!signal.aborted) this.#retry(key, error);
    } finally {
      this.#running.delete(key);
      this.#slow.delete(key);
      this.#overdue.delete(key);
      this.#totals.runs++;
      this.durations.observe((this.#clock.nowMs() - startedMs) / 1000);
      const againMs = this.#requeued.get(key);
      this.#requeued.delete(key);
      if (againMs !== undefined) this.#markReady(key, againMs);
    }
  }

  #cancelDelay(key: string): void {
    this.#delayed.get(key)?.cancel();
    this.#delayed.delete(key);
  }

  #retry(key: string, error: unknown): void {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    this.#totals.retries++;
    const requestedMs = isKubeError(error, 'Throttled') ? (error.retryAfterMs ?? 0) : 0;
    const retryAfterMs = Math.min(requestedMs, MAX_RETRY_AFTER_MS);
    const retryInMs = Math.max(retryAfterMs, backoffMs(failures, this.#random(), this.#backoff));
    this.addAfter(key, retryInMs);
    this.#onFailure({ key, error, failures, retryInMs });
  }
}
