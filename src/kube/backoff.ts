/**
 * Backoff delays after failures.
 */
import type { Clock } from '../clock/clock.ts';

/** Bounds of a delay that doubles with each failure. */
export interface BackoffLimits {
  /** The delay after the first failure. */
  readonly firstMs: number;
  readonly maxMs: number;
}

/** For requests to a server: short delays for a restart, and long ones for an outage of an hour. */
export const SERVER_BACKOFF: BackoffLimits = { firstMs: 500, maxMs: 30_000 };

/**
 * Returns the delay after a number of consecutive failures. `random`, from 0 to 1, subtracts up to half of it, so that
 * clients that failed at the same moment do not all retry at the same moment.
 */
export function backoffMs(
  failures: number,
  random: number,
  { firstMs, maxMs }: BackoffLimits = SERVER_BACKOFF,
): number {
  if (failures <= 0) return 0;
  // The exponent is capped. The limit is reached long before.
  const fullMs = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(fullMs * (1 - random / 2));
}

/** Waits. Returns early, without an error, if the signal aborts. */
export async function delay(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return;
  await new Promise<void>((resolve) => {
    const end = () => {
      stop();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const stop = clock.after(ms, end);
    signal.addEventListener('abort', end);
  });
}
