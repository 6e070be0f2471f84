/** Durations as people write them. */

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const DURATION = /^\+?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const DURATION_PART = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g;

/**
 * Returns the milliseconds of a duration such as `30s`, `1m30s` or `500ms`, in the syntax of Go.
 *
 * @throws TypeError with a sentence for the user.
 */
export function parseDuration(text: string): number {
  if (!DURATION.test(text)) {
    throw new TypeError(
      `invalid duration '${text}': must be numbers with units, such as 30s or 1m30s`,
    );
  }
  let totalMs = 0;
  for (const [, number, unit = ''] of text.matchAll(DURATION_PART)) {
    totalMs += Number(number) * (UNIT_MS[unit] ?? 0);
  }
  return totalMs;
}
