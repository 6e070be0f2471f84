/**
 * For tests only: a clock that shortens delays and timeouts in tests with real servers and connections.
 */
import { systemClock, type Clock } from '../../../clock/clock.ts';

/** 200 times as fast as the system clock: a minute takes a third of a second. */
const SPEED = 200;

/** A clock that runs {@link SPEED} times as fast. Dates are those of the system. */
export const fastClock: Clock = {
  nowMs: () => systemClock.nowMs() * SPEED,
  now: () => systemClock.now(),
  every: (periodMs, run) => systemClock.every(periodMs / SPEED, run),
  after: (delayMs, run) => systemClock.after(delayMs / SPEED, run),
  timeoutSignal: (delayMs) => systemClock.timeoutSignal(delayMs / SPEED),
};
