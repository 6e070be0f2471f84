/**
 * For tests only: a clock that advances when a test waits and no work is pending. A back-off of minutes takes only as
 * long as the work that it triggers.
 */
import { ManualClock } from '../manual-clock.ts';
import { OutsideWork } from './outside-work.ts';

/** Upper bound of a wait, in fake time: several periods of a steady Exposure, which are up to an hour. */
const LIMIT_MS = 12 * 3_600_000;

/** A clock that jumps from one timer to the next. */
export class DrivenClock extends ManualClock {
  readonly #work: OutsideWork;

  /** @param work - Work that must finish before the clock advances. Default: none. */
  constructor(work = new OutsideWork(), start?: Date) {
    super(start);
    this.#work = work;
  }

  /**
   * Advances the clock until `observe` returns a value, and returns that value. @throws Error after `limitMs`
   * (default: 12 hours)
   */
  async until<T>(
    description: string,
    observe: () => T | undefined | false,
    limitMs = LIMIT_MS,
  ): Promise<T> {
    const endMs = this.nowMs() + limitMs;
    let value = observe();
    while (value === undefined || value === false) {
      await this.quiet();
      value = observe();
      if (value !== undefined && value !== false) break;
      const dueMs = this.nextDueMs;
      if (dueMs === undefined) throw new Error(`never, because no timer is left: ${description}`);
      if (dueMs > endMs) throw new Error(`not within ${limitMs} ms: ${description}`);
      this.advance(dueMs - this.nowMs());
    }
    return value;
  }

  /** Advances the clock until a promise settles, and returns its result. */
  async settled<T>(description: string, work: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    work.then(settle, settle);
    await this.until(description, () => isSettled);
    return work;
  }

  /** Advances the clock by this much, timer by timer. */
  async pass(ms: number): Promise<void> {
    const endMs = this.nowMs() + ms;
    for (;;) {
      await this.quiet();
      const dueMs = this.nextDueMs;
      if (dueMs === undefined || dueMs > endMs) break;
      this.advance(dueMs - this.nowMs());
    }
    this.advance(endMs - this.nowMs());
    await this.quiet();
  }

  /** Resolves when all work that can run now has finished. */
  async quiet(): Promise<void> {
    let started: number;
    do {
      started = this.#work.started;
      await this.#work.idle();
      await turn();
      await turn();
    } while (this.#work.started !== started);
  }
}

/** Waits for one turn of the event loop. Every promise that can settle does so before. */
async function turn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setImmediate(resolve);
  await promise;
}
