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

interface DrainOptions {
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

/** How long to wait at the end for connections that do not close. They end with the process. */
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
    for (const engineDrain of drains) engineDrain.closeDownTo(share);
    if (drains.every((engineDrain) => engineDrain.isEmpty) || nowMs >= endMs + FINAL_WAIT_MS)
      resolve();
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
  /** The number of connections when closing began, and how many of them the engine was asked to close. */
  #initial = -1;
  #requested = 0;
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
   * Closes connections until only this share of them is open, including those that clients have closed. The count of
   * another thread may lag behind, so a requested close counts at once.
   */
  closeDownTo(share: number): void {
    const open = this.#engine.open();
    if (this.#initial < 0) this.#initial = open;
    const closed = Math.max(this.#requested, this.#initial - open);
    const due = Math.floor(this.#initial * (1 - share) + this.#phase);
    const count = share === 0 ? open : Math.min(open, due - closed);
    if (count <= 0) return;
    this.#requested += count;
    this.#engine.closeOldest(count);
  }
}
