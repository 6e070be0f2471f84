/**
 * The engine's turn and Bun's turn, in one thread.
 *
 * The engine sleeps in its own epoll instance, which watches Bun's loop too; when that has something to do, the thread
 * goes back to Bun, and comes again as its next immediate. Bun's timers are not among its descriptors: so the thread also
 * goes back after a slice of work, and from a sleep that gets longer the longer nothing happens. A timer is late by as
 * long as the thread has been idle, and by {@link LONGEST_SLEEP_MS} at most; at rest that is ten wake-ups a second.
 */
import { findBunLoop } from './bun-loop.ts';
import type { Poller } from '../../system/poller.ts';

const SHORTEST_SLEEP_MS = 1;
const LONGEST_SLEEP_MS = 100;
/** How long the engine works before Bun has a turn in any case. */
const SLICE_MS = 5;

/** What the engine does with an event. */
export interface Turn {
  /** Something is ready. */
  onEvent(fd: number, events: number, generation: number): void;
  /** After the events of a batch. */
  afterEvents(): void;
  /** How long the engine can do without a turn though there is no event; 0 if there is work now. */
  readonly patienceMs: number;
}

/** Alternates between an engine and Bun, until it is stopped. Keeps the process alive. */
export class Loop {
  readonly #poller: Poller;
  readonly #turn: Turn;
  readonly #bunLoop: number;
  #sleepMs = SHORTEST_SLEEP_MS;
  #isRunning = false;

  /** @throws Error if Bun's loop cannot be found. */
  constructor(poller: Poller, turn: Turn) {
    this.#poller = poller;
    this.#turn = turn;
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
      this.#turn.afterEvents();
    }
    if (this.#isRunning) setImmediate(this.#slice);
  };

  /** One batch of events. Whether Bun is to have its turn. */
  #wait(): boolean {
    const poller = this.#poller;
    const count = poller.wait(Math.min(this.#turn.patienceMs, this.#sleepMs));
    if (count === 0) {
      this.#sleepMs = Math.min(2 * this.#sleepMs, LONGEST_SLEEP_MS);
      return true;
    }
    this.#sleepMs = SHORTEST_SLEEP_MS;
    let isBunsTurn = false;
    for (let index = 0; index < count; index++) {
      const fd = poller.fd(index);
      if (fd === this.#bunLoop) isBunsTurn = true;
      else this.#turn.onEvent(fd, poller.events(index), poller.generation(index));
    }
    return isBunsTurn;
  }
}
