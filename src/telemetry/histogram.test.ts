import { expect, test } from 'bun:test';
import { DURATION_BOUNDS, Histogram } from './histogram.ts';
import { Metrics } from './metrics.ts';

test('counts in cumulative buckets whose bounds are inclusive, with sum and count', () => {
  const histogram = new Histogram([0.1, 1]);
  for (const seconds of [0.05, 0.1, 0.5, 7]) histogram.observe(seconds);
  const metrics = new Metrics();
  metrics.register({
    name: 'run_seconds',
    help: 'Runs.',
    type: 'histogram',
    samples: () => histogram.samples({ of: 'a' }),
  });

  expect(metrics.text()).toBe(
    [
      '# HELP run_seconds Runs.',
      '# TYPE run_seconds histogram',
      'run_seconds_bucket{of="a",le="0.1"} 2',
      'run_seconds_bucket{of="a",le="1"} 3',
      'run_seconds_bucket{of="a",le="+Inf"} 4',
      'run_seconds_sum{of="a"} 7.65',
      'run_seconds_count{of="a"} 4',
      '',
    ].join('\n'),
  );
});

test('exports every bucket from the start, with 0', () => {
  const samples = [...new Histogram().samples()];

  expect(samples).toHaveLength(DURATION_BOUNDS.length + 3);
  expect(samples.every(({ value }) => value === 0)).toBe(true);
  expect([...DURATION_BOUNDS].toSorted((a, b) => a - b)).toEqual([...DURATION_BOUNDS]);
});
