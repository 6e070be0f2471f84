/**
 * For tests only: waits for timeouts that are as short as the machine allows.
 */

/** The later ones are for a machine that was too busy for the earlier ones. */
const LIMITS_MS = [100, 1000, 15_000] as const;

/**
 * Runs something with increasing timeouts until the result is the expected one. A run that never ends times out with
 * every limit. Returns the last result.
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
