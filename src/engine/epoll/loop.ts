/**
 * Shares one thread between the engine and Bun.
 *
 * The engine sleeps in its own epoll instance, which also watches Bun's loop. When that loop has work, the thread
 * returns to Bun, and the engine continues in Bun's next immediate. Bun's timers are not among its descriptors. So the
 * thread also returns after a slice of work, and from a sleep that grows while nothing happens. A timer is late by as
 * long as the thread has been idle, and by {@link LONGEST_SLEEP_MS} at most. At rest that is ten wake-ups per second.
 */
import { findBunLoop } from './bun-loop.ts';
import type { Poller } from '../../system/poller.ts';

const SHORTEST_SLEEP_MS = 1;
const LONGEST_SLEEP_MS = 100;
/** How long the engine works before Bun gets a turn in any case. */
const SLICE_MS = 5;

/** Handles the events of a {@link Loop}. */
export interface LoopHandler {
  /** Called for each event. */
  onEvent(fd: number, events: number, generation: number): void;
  /** Called after each batch of events. */
  afterEvents(): void;
  /** How long the engine can sleep without an event. 0 if there is work now. */
  readonly maxSleepMs: number;
}

/** Alternates between an engine and Bun, until it is stopped. Keeps the process alive. */
export class Loop {
  readonly #poller: Poller;
  readonly #handler: LoopHandler;
  readonly #bunLoop: number;
  #sleepMs = SHORTEST_SLEEP_MS;
  #isRunning = false;

  /** @throws Error if Bun's loop cannot be found. */
  constructor(poller: Poller, handler: LoopHandler) {
    this.#poller = poller;
    this.#handler = handler;
    this.#bunLoop = findBunLoop();
    if (!poller.watchLevel(this.#bunLoop, 0)) throw new Error("Bun's loop cannot be watched");
  }

  start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    setImmediate(this.#slice);
  }

  stop(): void {
    this.#isRunning = false;
  }

  readonly #slice = (): void => {
    const endMs = performance.now() + SLICE_MS;
    let isBunsTurn = false;
    while (this.#isRunning && !isBunsTurn) {
      isBunsTurn = this.#wait() || performance.now() >= endMs;
      this.#handler.afterEvents();
    }
    if (this.#isRunning) setImmediate(this.#slice);
  };

  /** Handles one batch of events. Reports whether it is Bun's turn. */
  #wait(): boolean {
    const poller = this.#poller;
    const count = poller.wait(Math.min(this.#handler.maxSleepMs, this.#sleepMs));
    if (count === 0) {
      this.#sleepMs = Math.min(2 * this.#sleepMs, LONGEST_SLEEP_MS);
      return true;
    }
    this.#sleepMs = SHORTEST_SLEEP_MS;
    let isBunsTurn = false;
    for (let index = 0; index < count; index++) {
      const fd = poller.fd(index);
      if (fd === this.#bunLoop) isBunsTurn = true;
      else this.#handler.onEvent(fd, poller.events(index), poller.generation(index));
    }
    return isBunsTurn;
  }
}
