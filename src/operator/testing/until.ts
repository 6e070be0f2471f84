/** For tests only: polls until a condition holds, and returns its value. Tests wait for state and not for time. */
export async function until<T>(
  state: string,
  observe: () => T | undefined | false,
  deadlineMs = 200_000,
): Promise<T> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const value = observe();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > end) throw new Error(`not within ${deadlineMs} ms: ${state}`);
    await Bun.sleep(2);
  }
}
