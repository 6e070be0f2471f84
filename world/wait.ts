/** Options of {@link waitFor}. */
export interface WaitOptions {
  /** Default 30,000. */
  readonly deadlineMs?: number;
  /** Time between two looks. Default 100. */
  readonly everyMs?: number;
}

/**
 * Looks until something holds, and returns the first value that is neither false nor undefined. What the
 * look throws ends the wait: a look that may fail for a while says so by returning undefined.
 */
export async function waitFor<T>(
  state: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  options: WaitOptions = {},
): Promise<T> {
  const deadlineMs = options.deadlineMs ?? 30_000;
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > deadline) throw new Error(`not within ${deadlineMs} ms: ${state}`);
    await Bun.sleep(options.everyMs ?? 100);
  }
}
