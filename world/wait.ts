/** How many times longer than usual a slow machine may take: WORLD_PATIENCE, default 1. */
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
  /** Time between two looks. Default 100. */
  readonly everyMs?: number;
}

/**
 * Looks until something holds, and returns the first value that is neither false nor undefined. What the look throws
 * ends the wait: a look that may fail for a while says so by returning undefined. A look that hangs does not keep the
 * wait from ending.
 */
export async function waitFor<T>(
  state: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  options: WaitOptions = {},
): Promise<T> {
  const deadlineMs = (options.deadlineMs ?? 30_000) * patience;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`not within ${deadlineMs} ms: ${state}`)),
    deadlineMs,
  );
  try {
    for (;;) {
      const value = await Promise.race([look(), late]);
      if (value !== undefined && value !== false) return value;
      await Promise.race([Bun.sleep(options.everyMs ?? 100), late]);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Options of {@link persist}. */
export interface PersistOptions<T> {
  /** Is this no answer yet? The last one is returned all the same. Default: everything is one. */
  readonly isRefused?: (value: T) => boolean;
  /** Pause before the second try; each further one is twice as long. Default 250. */
  readonly pauseMs?: number;
}

/** With the default pause these are eight seconds, if each fails at once. */
const TRIES = 6;

/**
 * Does something again while it fails or is refused, six times at most, and ends as the last try did. For reading from
 * somebody who is busy or restarts: what was not answered may be asked again, where what was not done may have been.
 */
export async function persist<T>(
  attempt: () => Promise<T>,
  { isRefused = () => false, pauseMs = 250 }: PersistOptions<T> = {},
): Promise<T> {
  for (let tried = 1; tried < TRIES; tried++) {
    try {
      const value = await attempt();
      if (!isRefused(value)) return value;
    } catch {
      // the last try says why
    }
    await Bun.sleep(pauseMs * 2 ** (tried - 1) * patience);
  }
  return attempt();
}

/**
 * Waits until all are done, also when one has failed, and then fails with the first failure: whoever cleans up
 * afterwards can be sure that nobody is still at work.
 */
export async function together<T extends readonly unknown[] | []>(
  work: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(work);
  return Promise.all(work);
}
