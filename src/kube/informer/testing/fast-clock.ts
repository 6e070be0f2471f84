/**
 * For tests only: a clock for delays and limits, against servers and connections that are real.
 */
import { systemClock, type Clock } from '../../../clock/clock.ts';

/** Two hundred times as fast as the clock of the machine: a minute in a third of a second. */
const SPEED = 200;

/** Time that passes {@link SPEED} times as fast; dates are those of the machine. */
export const fastClock: Clock = {
  nowMs: () => systemClock.nowMs() * SPEED,
  now: () => systemClock.now(),
  every: (periodMs, run) => systemClock.every(periodMs / SPEED, run),
  after: (delayMs, run) => systemClock.after(delayMs / SPEED, run),
  timeoutSignal: (delayMs) => systemClock.timeoutSignal(delayMs / SPEED),
};
