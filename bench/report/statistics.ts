/** Summarizes samples. */
import type { Sample } from '../measure/rounds.ts';

/** The median and quartiles of some figures. */
export interface Spread {
  readonly low: number;
  readonly median: number;
  readonly high: number;
  readonly count: number;
}

/** Returns the median and quartiles, interpolated between two figures if needed. @throws if there are no figures. */
export function spreadOf(figures: readonly number[]): Spread {
  if (figures.length === 0) throw new Error('no figures, so no median');
  const sorted = figures.toSorted((left, right) => left - right);
  return {
    low: quantile(sorted, 0.25),
    median: quantile(sorted, 0.5),
    high: quantile(sorted, 0.75),
    count: sorted.length,
  };
}

function quantile(sorted: readonly number[], share: number): number {
  const at = (sorted.length - 1) * share;
  const lower = sorted[Math.floor(at)] ?? 0;
  const upper = sorted[Math.ceil(at)] ?? lower;
  return lower + (upper - lower) * (at - Math.floor(at));
}

/** The result of one peer in one case: figures, or a failure. */
export type Outcome =
  | { readonly kind: 'measured'; readonly cost: Spread; readonly ratio: Spread }
  | { readonly kind: 'failed'; readonly errors: number }
  | { readonly kind: 'absent' };

/**
 * Compares a peer with a base in one case. Each ratio is computed within one repetition. A single error makes the
 * outcome a failure, because a proxy that drops work uses less CPU.
 */
export function outcomeOf(
  samples: readonly Sample[],
  comparison: { readonly peer: string; readonly base: string; readonly case: string },
): Outcome {
  const inCase = samples.filter((sample) => sample.case === comparison.case);
  const peerSamples = inCase.filter((sample) => sample.peer === comparison.peer);
  if (peerSamples.length === 0) return { kind: 'absent' };
  const errors = peerSamples.reduce((sum, sample) => sum + sample.errors, 0);
  if (errors > 0) return { kind: 'failed', errors };
  const baseCosts = new Map(
    inCase
      .filter((sample) => sample.peer === comparison.base && sample.errors === 0)
      .map((sample) => [sample.repetition, sample.cost]),
  );
  const ratios = peerSamples.flatMap((sample) => {
    const base = baseCosts.get(sample.repetition);
    return base === undefined ? [] : [sample.cost / base];
  });
  if (ratios.length === 0) return { kind: 'absent' };
  return {
    kind: 'measured',
    cost: spreadOf(peerSamples.map((sample) => sample.cost)),
    ratio: spreadOf(ratios),
  };
}
