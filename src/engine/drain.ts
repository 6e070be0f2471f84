/**
 * Closes connections one by one over a period, because all their clients reconnect and must not do so at once. Draining
 * steers an engine by numbers only, so the engine may run in another thread.
 */
import type { Clock } from '../clock/clock.ts';

/** An engine, or a handle of an engine in another thread. */
export interface Drainable {
  stopAccepting(): void;
  /** Closes this many connections, oldest first. The effect may be delayed. */
  closeOldest(count: number): unknown;
  /** Returns the number of open connections. */
  open(): number;
}

/** Options of {@link drain}. */
export interface DrainOptions {
  readonly engines: readonly Drainable[];
  /** How long to keep accepting connections, so that load balancers can notice the failing readiness. */
  readonly graceMs: number;
  /** The period after that over which connections are closed. */
  readonly drainMs: number;
  readonly clock: Clock;
  /** Aborting it ends both periods and closes all connections at once. */
  readonly signal?: AbortSignal;
}

/** With 500 connections and 10 seconds, each step closes two or three of them. The CPU cost is negligible. */
const STEP_MS = 50;

/** How long to wait for connections that were ordered to close and stay open. They end with the process. */
const FINAL_WAIT_MS = 2000;

/**
 * Drains the engines as {@link DrainOptions} describes. Resolves when all connections are closed, or two seconds later.
 */
export async function drain(options: DrainOptions): Promise<void> {
  const { engines, graceMs, drainMs, clock, signal } = options;
  const startMs = clock.nowMs();
  const drainStartMs = startMs + graceMs;
  const { promise, resolve } = Promise.withResolvers<void>();
  const drains = engines.map((engine, index) => {
    return new EngineDrain(engine, (index + 0.5) / engines.length);
  });
  let accepts = true;
  let abortedMs = signal?.aborted === true ? startMs : Infinity;

  const step = (): void => {
    const nowMs = clock.nowMs();
    const endMs = Math.min(drainStartMs + drainMs, abortedMs);
    if (nowMs < Math.min(drainStartMs, abortedMs)) return;
    if (accepts) for (const engine of engines) engine.stopAccepting();
    accepts = false;
    const share = nowMs >= endMs ? 0 : (endMs - nowMs) / drainMs;
    for (const one of drains) one.closeDownTo(share);
    if (drains.every((one) => one.isEmpty) || nowMs >= endMs + FINAL_WAIT_MS) resolve();
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

/** The drain of one engine. */
class EngineDrain {
  readonly #engine: Drainable;
  /** The number of connections when closing began, and the number of them that the engine was ordered to close. */
  #all = -1;
  #ordered = 0;
  /**
   * Phase of the engine, from 0 to 1. Without it, engines with one connection each would all close it at the same
   * moment.
   */
  readonly #phase: number;

  constructor(engine: Drainable, phase: number) {
    this.#engine = engine;
    this.#phase = phase;
  }

  get isEmpty(): boolean {
    return this.#engine.open() === 0;
  }

  /**
   * Closes connections until this share of them is left. Connections that clients have closed count too. The count of
   * another thread may lag behind the orders, so an ordered close counts at once.
   */
  closeDownTo(share: number): void {
    const open = this.#engine.open();
    if (this.#all < 0) this.#all = open;
    const gone = Math.max(this.#ordered, this.#all - open);
    const due = Math.floor(this.#all * (1 - share) + this.#phase);
    const count = share === 0 ? open : Math.min(open, due - gone);
    if (count <= 0) return;
    this.#ordered += count;
    this.#engine.closeOldest(count);
  }
}
