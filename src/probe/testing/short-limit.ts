/**
 * For tests only: the wait for a limit, as short as the machine allows.
 */

/** A later one is for a machine that was too busy for the earlier ones. */
const LIMITS_MS = [100, 1000, 15_000] as const;

/**
 * Runs something under a short limit, and under longer ones as long as the result is not the expected one: what really
 * takes for ever does so under every limit. The last result is returned.
 */
export async function underShortLimit<T>(
  run: (timeoutMs: number) => Promise<T>,
  isExpected: (result: T) => boolean,
): Promise<T> {
  const [firstMs, ...longerMs] = LIMITS_MS;
  let result = await run(firstMs);
  for (const timeoutMs of longerMs) {
    if (isExpected(result)) break;
    result = await run(timeoutMs);
  }
  return result;
}
