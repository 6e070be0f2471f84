/** Looks until something holds, and returns it. For tests: state, not time, is what they wait for. */
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
