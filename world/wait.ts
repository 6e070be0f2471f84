/** Factor for timeouts on a slow machine: WORLD_PATIENCE, default 1. */
export const patience = Number(process.env['WORLD_PATIENCE'] || 1);
if (!(patience > 0 && patience <= 1000)) {
  throw new Error(
    `WORLD_PATIENCE=${process.env['WORLD_PATIENCE']} is not a number above 0, 1000 at most`,
  );
}

/** Options of {@link waitFor}. */
export interface WaitOptions {
  /** Default 30,000. */
  readonly deadlineMs?: number;
  /** Time between two checks. Default 100. */
  readonly everyMs?: number;
}

/**
 * Polls a check and returns its first value that is neither false nor undefined. An error that the check throws ends
 * the wait, so a check that may fail for a while returns undefined. A check that hangs does not delay the deadline.
 *
 * @throws when the deadline passes
 */
export async function waitFor<T>(
  state: string,
  check: () => Promise<T | undefined | false> | T | undefined | false,
  options: WaitOptions = {},
): Promise<T> {
  const deadlineMs = (options.deadlineMs ?? 30_000) * patience;
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`not within ${deadlineMs} ms: ${state}`)),
    deadlineMs,
  );
  try {
    for (;;) {
      const value = await Promise.race([check(), timeout]);
      if (value !== undefined && value !== false) return value;
      await Promise.race([Bun.sleep(options.everyMs ?? 100), timeout]);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Options of {@link retry}. */
export interface RetryOptions<T> {
  /**
   * Reports whether a value is a refusal, to be retried. The last value is returned in any case. Default: no value is
   * refused.
   */
  readonly isRefused?: (value: T) => boolean;
  /** Pause before the second attempt. Each further pause is twice as long. Default 250. */
  readonly pauseMs?: number;
}

/** Six attempts take about eight seconds with the default pause, if each fails at once. */
const MAX_ATTEMPTS = 6;

/**
 * Retries failed and refused attempts, six attempts in all. Returns the value or throws the error of the last attempt.
 * Use it only for reads from a server that is busy or restarting: an unanswered write may have taken effect.
 */
export async function retry<T>(
  attempt: () => Promise<T>,
  { isRefused = () => false, pauseMs = 250 }: RetryOptions<T> = {},
): Promise<T> {
  for (let attempts = 1; attempts < MAX_ATTEMPTS; attempts++) {
    try {
      const value = await attempt();
      if (!isRefused(value)) return value;
    } catch {
      // the last attempt throws its error
    }
    await Bun.sleep(pauseMs * 2 ** (attempts - 1) * patience);
  }
  return attempt();
}

/**
 * Waits until all promises are settled, and then throws the first error. So no work is running when the caller cleans
 * up.
 */
export async function waitForAll<T extends readonly unknown[] | []>(
  work: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(work);
  return Promise.all(work);
}
