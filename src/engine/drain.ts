/**
 * Leaving without a stampede: connections are closed one by one over a while, so that their clients, who all dial
 * again, do not do so at once. What it drains is told by numbers only, so that it may live in another thread.
 */
import type { Clock } from '../clock/clock.ts';

/** An engine, or the far end of one. */
export interface Drainable {
  stopAccepting(): void;
  /** Closes this many connections, those accepted first. May take effect a little later. */
  closeOldest(count: number): unknown;
  /** How many connections are open now. */
  open(): number;
}

/** Options of {@link drain}. */
export interface DrainOptions {
  readonly engines: readonly Drainable[];
  /** How long new connections are still accepted: until load balancers have seen that we are not ready. */
  readonly graceMs: number;
  /** Over how long connections are closed after that. */
  readonly drainMs: number;
  readonly clock: Clock;
  /** Ends both waits: all is closed at once. */
  readonly signal?: AbortSignal;
}

/** Often enough that a closing of 500 connections in 10 seconds comes in handfuls, seldom enough to cost nothing. */
const STEP_MS = 50;

/** Connections that are told to close and do not are waited for this long, and then left to the end of the process. */
const LAST_MS = 2000;

/** Drains and resolves when all connections are closed. See {@link DrainOptions} for the order. */
export async function drain(options: DrainOptions): Promise<void> {
  const { engines, graceMs, drainMs, clock, signal } = options;
  const startMs = clock.nowMs();
  const drainStartMs = startMs + graceMs;
  const { promise, resolve } = Promise.withResolvers<void>();
  const spreads = engines.map((engine, index) => {
    return new Spread(engine, (index + 0.5) / engines.length);
  });
  let accepts = true;
  let abortedMs = signal?.aborted === true ? startMs : Infinity;

  const step = (): void => {
    const nowMs = clock.nowMs();
    const endMs = Math.min(drainStartMs + drainMs, abortedMs);
    if (nowMs < Math.min(drainStartMs, abortedMs)) return;
    if (accepts) for (const engine of engines) engine.stopAccepting();
    accepts = false;
    const left = nowMs >= endMs ? 0 : (endMs - nowMs) / drainMs;
    for (const spread of spreads) spread.closeDownTo(left);
    if (spreads.every((spread) => spread.isEmpty) || nowMs >= endMs + LAST_MS) resolve();
  };
  const abort = (): void => {
    abortedMs = clock.nowMs();
    step();
  };
  signal?.addEventListener('abort', abort);
  const stop = clock.every(STEP_MS, step);
  step();
  try {
    await promise;
  } finally {
    stop();
    signal?.removeEventListener('abort', abort);
  }
}

/** One engine on its way from all connections to none. */
class Spread {
  readonly #engine: Drainable;
  /** The connections when the closing began, and how many of them were told to close. */
  #all = -1;
  #told = 0;
  /** From 0 to 1: when in its own stride. Engines with a connection each would otherwise close them all at one moment. */
  readonly #phase: number;

  constructor(engine: Drainable, phase: number) {
    this.#engine = engine;
    this.#phase = phase;
  }

  get isEmpty(): boolean {
    return this.#engine.open() === 0;
  }

  /**
   * Closes so many that this share of all is left; those that left by themselves count as closed. The number of
   * another thread may lag behind what it was told, so what it was told counts too.
   */
  closeDownTo(share: number): void {
    const open = this.#engine.open();
    if (this.#all < 0) this.#all = open;
    const gone = Math.max(this.#told, this.#all - open);
    const due = Math.floor(this.#all * (1 - share) + this.#phase);
    const count = share === 0 ? open : Math.min(open, due - gone);
    if (count <= 0) return;
    this.#told += count;
    this.#engine.closeOldest(count);
  }
}
