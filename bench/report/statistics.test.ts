import { describe, expect, test } from 'bun:test';
import type { Sample } from '../measure/rounds.ts';
import { outcomeOf, spreadOf } from './statistics.ts';

function sample(peer: string, repetition: number, cost: number, errors = 0): Sample {
  const rest = { perSecond: 1, latencyMedianUs: 1, latency99Us: 1 };
  return { peer, case: 'gateway.plain.connect', repetition, cost, errors, ...rest };
}

const CASE = { peer: 'ours', base: 'haproxy', case: 'gateway.plain.connect' };

describe('a spread', () => {
  test('has the median of unsorted figures', () => {
    expect(spreadOf([5, 1, 3]).median).toBe(3);
  });

  test('interpolates between two figures if their number is even', () => {
    expect(spreadOf([1, 2, 3, 4])).toEqual({ low: 1.75, median: 2.5, high: 3.25, count: 4 });
  });

  test('of a single figure is that figure', () => {
    expect(spreadOf([7])).toEqual({ low: 7, median: 7, high: 7, count: 1 });
  });

  test('throws without figures', () => {
    expect(() => spreadOf([])).toThrow('no figures');
  });
});

describe('the outcome of a peer in a case', () => {
  test('compares only within a repetition', () => {
    // In the second repetition the machine was ten times slower for both.
    const samples = [
      sample('haproxy', 1, 100),
      sample('ours', 1, 80),
      sample('haproxy', 2, 1000),
      sample('ours', 2, 900),
      sample('haproxy', 3, 100),
      sample('ours', 3, 85),
    ];

    const outcome = outcomeOf(samples, CASE);

    expect(outcome.kind === 'measured' && outcome.ratio.median).toBeCloseTo(0.85);
  });

  test('ignores a repetition in which the base failed', () => {
    const samples = [
      sample('haproxy', 1, 1, 3),
      sample('ours', 1, 80),
      sample('haproxy', 2, 100),
      sample('ours', 2, 90),
    ];

    const outcome = outcomeOf(samples, CASE);

    expect(outcome.kind === 'measured' && outcome.ratio).toMatchObject({ median: 0.9, count: 1 });
  });

  test('is a failure with one error in any repetition', () => {
    const samples = [sample('haproxy', 1, 100), sample('ours', 1, 10), sample('ours', 2, 10, 1)];

    expect(outcomeOf(samples, CASE)).toEqual({ kind: 'failed', errors: 1 });
  });

  test('is absent if the peer or the base was not measured', () => {
    expect(outcomeOf([sample('haproxy', 1, 100)], CASE).kind).toBe('absent');
    expect(outcomeOf([sample('ours', 1, 100)], CASE).kind).toBe('absent');
  });
});
