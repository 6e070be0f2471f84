/**
 * Polls until a value is not false, and returns it. For tests, which wait for states and not for times.
 */
export async function until<T>(
  state: string,
  look: () => Promise<T | false> | T | false,
  deadlineMs = 200_000,
): Promise<T> {
  const endMs = performance.now() + deadlineMs;
  for (;;) {
    const value = await look();
    if (value !== false) return value;
    if (performance.now() > endMs) throw new Error(`not within ${deadlineMs} ms: ${state}`);
    await Bun.sleep(10);
  }
}
