/** Prometheus histograms. An observation searches a few bounds and allocates nothing. */
import type { Sample } from './metrics.ts';

/** Upper bounds of the buckets of a duration, in seconds: from a millisecond to five minutes. */
export const DURATION_BOUNDS: readonly number[] = [
  0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
];

/** Counts observations by size. */
export class Histogram {
  readonly #bounds: readonly number[];
  /** Counts by bucket. The last bucket is for values above all bounds. */
  readonly #counts: Float64Array;
  #sum = 0;

  /** @param bounds - Upper bounds of the buckets, inclusive and ascending. Default {@link DURATION_BOUNDS}. */
  constructor(bounds: readonly number[] = DURATION_BOUNDS) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    let bucket = 0;
    while (bucket < this.#bounds.length && value > (this.#bounds[bucket] ?? 0)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  /** Returns the samples of a `histogram` family. Buckets are cumulative. */
  samples(labels: Readonly<Record<string, string>> = {}): Generator<Sample, void, undefined> {
    return histogramSamples(this.#bounds, this.#counts, this.#sum, labels);
  }
}

/**
 * Yields the samples of a histogram that is counted elsewhere.
 *
 * @param counts - Counts by bucket, not cumulative, with one more for values above all bounds.
 */
export function* histogramSamples(
  bounds: readonly number[],
  counts: ArrayLike<number>,
  sum: number,
  labels: Readonly<Record<string, string>> = {},
): Generator<Sample, void, undefined> {
  let count = 0;
  for (let bucket = 0; bucket < counts.length; bucket++) {
    count += counts[bucket] ?? 0;
    const bound = bounds[bucket];
    const le = bound === undefined ? '+Inf' : String(bound);
    yield { suffix: '_bucket', labels: { ...labels, le }, value: count };
  }
  yield { suffix: '_sum', labels, value: sum };
  yield { suffix: '_count', labels, value: count };
}
