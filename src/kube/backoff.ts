/**
 * How long to wait after a failure, and the waiting itself.
 */
import type { Clock } from '../clock/clock.ts';

/** Bounds of a delay that doubles with each failure. */
export interface BackoffLimits {
  /** Of the first failure. */
  readonly firstMs: number;
  readonly maxMs: number;
}

/** For a server: soon enough for a restart, slow enough for an outage of an hour. */
export const SERVER_BACKOFF: BackoffLimits = { firstMs: 500, maxMs: 30_000 };

/**
 * The delay after so many failures in a row. `random`, from 0 to 1, takes away up to half of it: a thousand callers who
 * failed at the same moment do not come back at the same moment.
 */
export function backoffMs(
  failures: number,
  random: number,
  { firstMs, maxMs }: BackoffLimits = SERVER_BACKOFF,
): number {
  if (failures <= 0) return 0;
  // Past 2^30 the shift would overflow; the limit is reached long before.
  const fullMs = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(fullMs * (1 - random / 2));
}

/** Waits. Ends at once, without an error, when the signal says so. */
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
