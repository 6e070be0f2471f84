/**
 * Which objects are to be looked at, each known by its key. A queue of names and not of changes: whoever reconciles a key
 * reads what is there now, so that ten changes while it waits are one run, and a missed one is made good by the next.
 */
import { systemClock, type Clock } from '../clock/clock.ts';
import { backoffMs, type BackoffLimits } from './backoff.ts';
import { isKubeError } from './kube-error.ts';
import { Histogram } from '../telemetry/histogram.ts';

/** Brings the world nearer to what the object of a key asks for. To be called again later, it says `addAfter`. */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<void>;

/** A run that failed and will be repeated. */
export interface FailedRun {
  readonly key: string;
  readonly error: unknown;
  /** In a row. */
  readonly failures: number;
  readonly retryInMs: number;
}

/** Options of a {@link WorkQueue}. */
export interface WorkQueueOptions {
  /** Default: the clock of the machine. */
  readonly clock?: Clock | undefined;
  /** From 0 to 1, for the spread of delays. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Of a key that fails again and again. Default 0.5 s to 5 min. */
  readonly backoff?: BackoffLimits;
  /** Told of each failure: the queue repeats the run and says nothing itself. */
  readonly onFailure: (run: FailedRun) => void;
}

/** Options of {@link WorkQueue.run}. */
export interface RunOptions {
  /** How many keys at a time; one key never twice. Default 4. */
  readonly concurrency?: number;
  /** Some run in a lane of their own, beside the others and so many at a time. Default: none do. */
  readonly slowLane?: SlowLane;
  /** A run that takes long gives its place to the next one. Default: none does. */
  readonly patience?: Patience;
  /** Ends the work: what runs is told by its own signal and awaited, what waits stays. */
  readonly signal: AbortSignal;
}

/** For keys that are known to take long: they keep nobody waiting but each other. */
export interface SlowLane {
  readonly concurrency: number;
  /** Asked when there is room for the key. */
  readonly isSlow: (key: string) => boolean;
}

/** With runs that take long and could not be known to. */
export interface Patience {
  /** Longer than this is long. */
  readonly limitMs: number;
  /** So many give their place, at a time. */
  readonly places: number;
}

/** Numbers for metrics. Totals are since the start. */
export interface WorkQueueNumbers {
  /** Keys that could run now. */
  readonly depth: number;
  /** Keys that wait for their time. */
  readonly delayed: number;
  readonly adds: number;
  readonly retries: number;
  readonly running: number;
  /** Of the run that has been going on for the longest; 0 if there is none. */
  readonly longestRunningSeconds: number;
  readonly runs: number;
}

/** Soon enough for a passing fault, slow enough for one that needs a person. */
const RECONCILE_BACKOFF: BackoffLimits = { firstMs: 500, maxMs: 300_000 };

/** No server's advice is waited for longer. */
const MAX_ADVICE_MS = 300_000;

/** A timer cannot wait longer; a run too early does no harm. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/** Keys that could run now, in the order of arrival. */
class Lane {
  /** With the time since when. */
  readonly #keys = new Map<string, number>();
  readonly #ahead = new Set<string>();

  get size(): number {
    return this.#keys.size;
  }

  get hasAhead(): boolean {
    return this.#ahead.size > 0;
  }

  /** Since when the first key waits. */
  get firstMs(): number {
    return this.#keys.values().next().value ?? Infinity;
  }

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  sinceMs(key: string): number {
    return this.#keys.get(key) ?? 0;
  }

  add(key: string, sinceMs: number, isAhead: boolean): void {
    if (!this.#keys.has(key)) this.#keys.set(key, sinceMs);
    if (isAhead) this.#ahead.add(key);
  }

  delete(key: string): void {
    this.#keys.delete(key);
    this.#ahead.delete(key);
  }

  first(isTurnOfAhead: boolean): string | undefined {
    const ahead = isTurnOfAhead ? this.#ahead.values().next().value : undefined;
    return ahead ?? this.#keys.keys().next().value;
  }
}

/** Keys to reconcile. */
export class WorkQueue {
  /** Seconds that keys waited from when they could run until they ran. */
  readonly waits = new Histogram();
  /** Seconds that runs took. */
  readonly durations = new Histogram();
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #backoff: BackoffLimits;
  readonly #onFailure: (run: FailedRun) => void;
  readonly #ready = new Lane();
  /** Those for the slow lane. Apart, so that a search for them does not pass all others. */
  readonly #readySlow = new Lane();
  /** Those that are to be finished before others begin. */
  readonly #ahead = new Set<string>();
  readonly #delayed = new Map<string, { readonly dueMs: number; readonly cancel: () => void }>();
  /** With the time of their start. */
  readonly #running = new Map<string, number>();
  /** Those of {@link #running} that are in the slow lane. */
  readonly #slow = new Set<string>();
  /** Those of the others that have taken long. */
  readonly #overdue = new Set<string>();
  /** Added while they run, with the time of that: they run once more. */
  readonly #again = new Map<string, number>();
  /** In a row, by key. */
  readonly #failures = new Map<string, number>();
  readonly #totals = { adds: 0, retries: 0, runs: 0 };
  #isTurnOfAhead = false;
  #isSlow: (key: string) => boolean = () => false;
  #wake: () => void = () => {};
  #hasRun = false;

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#backoff = options.backoff ?? RECONCILE_BACKOFF;
    this.#onFailure = options.onFailure;
  }

  /** Runs the key as soon as there is room: at once also if it is backing off, for something has changed. */
  add(key: string): void {
    this.#totals.adds++;
    const nowMs = this.#clock.nowMs();
    if (!this.#running.has(key)) this.#becomeReady(key, nowMs);
    else if (!this.#again.has(key)) this.#again.set(key, nowMs);
    this.#wake();
  }

  #becomeReady(key: string, sinceMs: number): void {
    const isSlow = this.#readySlow.has(key) || (!this.#ready.has(key) && this.#isSlow(key));
    (isSlow ? this.#readySlow : this.#ready).add(key, sinceMs, this.#ahead.has(key));
  }

  /**
   * The same, ahead of those that wait. Every other turn is theirs all the same: a key that changes all the time must not
   * keep them waiting.
   */
  addAhead(key: string): void {
    this.#ahead.add(key);
    this.add(key);
  }

  /** Runs the key in a while. Of two such times the sooner counts; an `add` in between leaves it as it is. */
  addAfter(key: string, delayMs: number): void {
    if (delayMs <= 0) {
      this.add(key);
      return;
    }
    const ms = Math.min(delayMs, LONGEST_DELAY_MS);
    const dueMs = this.#clock.nowMs() + ms;
    const planned = this.#delayed.get(key);
    if (planned !== undefined && planned.dueMs <= dueMs) return;
    planned?.cancel();
    const cancel = this.#clock.after(ms, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { dueMs, cancel });
  }

  /** Whatever is planned for a key that is gone. A run that goes on is not cut short. */
  forget(key: string): void {
    this.#delayed.get(key)?.cancel();
    this.#delayed.delete(key);
    this.#ready.delete(key);
    this.#readySlow.delete(key);
    this.#ahead.delete(key);
    this.#again.delete(key);
    this.#failures.delete(key);
  }

  /** The numbers as they are now. */
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
   * Works until the signal, and returns when the last run has ended. A run that throws is repeated with a growing delay.
   *
   * @throws TypeError if somebody else works already, for two would run one key at the same time.
   */
  async run(reconcile: Reconcile, options: RunOptions): Promise<void> {
    const { signal } = options;
    if (this.#hasRun) throw new TypeError('a work queue is worked on once');
    this.#hasRun = true;
    this.#isSlow = (key) => options.slowLane?.isSlow(key) ?? false;
    const runs = new Set<Promise<void>>();
    const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
    const start = () => {
      while (!signal.aborted) {
        const key = this.#next(options);
        if (key === undefined) return;
        const stopWaiting = this.#beginWaiting(key, options.patience);
        const run = this.#runOne(key, reconcile, signal).finally(() => {
          stopWaiting();
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

  #next({ concurrency = 4, slowLane, patience }: RunOptions): string | undefined {
    const excused = Math.min(this.#overdue.size, patience?.places ?? 0);
    const hasRoom = this.#running.size - this.#slow.size - excused < concurrency;
    const hasSlowRoom = this.#slow.size < (slowLane?.concurrency ?? 0);
    if (!hasRoom && !hasSlowRoom) return undefined;
    this.#isTurnOfAhead = !this.#isTurnOfAhead;
    for (;;) {
      const lane = this.#nextLane(hasRoom, hasSlowRoom);
      const key = lane?.first(this.#isTurnOfAhead);
      if (lane === undefined || key === undefined) return undefined;
      const readyMs = lane.sinceMs(key);
      lane.delete(key);
      // It may have begun to fail, or have recovered, since it was added.
      const isSlow = this.#isSlow(key);
      if (isSlow && !hasSlowRoom) {
        this.#readySlow.add(key, readyMs, this.#ahead.has(key));
        continue;
      }
      this.waits.observe((this.#clock.nowMs() - readyMs) / 1000);
      this.#ahead.delete(key);
      if (isSlow || !hasRoom) this.#slow.add(key);
      return key;
    }
  }

  /** Of the lanes with room, the one whose next key has waited longer. */
  #nextLane(hasRoom: boolean, hasSlowRoom: boolean): Lane | undefined {
    const lanes = [...(hasRoom ? [this.#ready] : []), ...(hasSlowRoom ? [this.#readySlow] : [])];
    const filled = lanes.filter(({ size }) => size > 0);
    const [first, second] = filled;
    if (first === undefined || second === undefined) return first;
    const isAhead = this.#isTurnOfAhead && first.hasAhead !== second.hasAhead;
    if (isAhead) return first.hasAhead ? first : second;
    return second.firstMs < first.firstMs ? second : first;
  }

  /** Returns how to end that. */
  #beginWaiting(key: string, patience: Patience | undefined): () => void {
    if (patience === undefined || this.#slow.has(key)) return () => {};
    return this.#clock.after(patience.limitMs, () => {
      this.#overdue.add(key);
      this.#wake();
    });
  }

  async #runOne(key: string, reconcile: Reconcile, signal: AbortSignal): Promise<void> {
    const startedMs = this.#clock.nowMs();
    this.#running.set(key, startedMs);
    try {
      await reconcile(key, signal);
      this.#failures.delete(key);
    } catch (error) {
      // Cut short by the end of all work: nobody is there to repeat it.
      if (!signal.aborted) this.#retry(key, error);
    } finally {
      this.#running.delete(key);
      this.#slow.delete(key);
      this.#overdue.delete(key);
      this.#totals.runs++;
      this.durations.observe((this.#clock.nowMs() - startedMs) / 1000);
      const againMs = this.#again.get(key);
      this.#again.delete(key);
      if (againMs !== undefined) this.#becomeReady(key, againMs);
    }
  }

  #retry(key: string, error: unknown): void {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    this.#totals.retries++;
    const askedMs = isKubeError(error, 'Throttled') ? (error.retryAfterMs ?? 0) : 0;
    const adviceMs = Math.min(askedMs, MAX_ADVICE_MS);
    const retryInMs = Math.max(adviceMs, backoffMs(failures, this.#random(), this.#backoff));
    this.addAfter(key, retryInMs);
    this.#onFailure({ key, error, failures, retryInMs });
  }
}
