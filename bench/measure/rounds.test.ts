import { describe, expect, test } from 'bun:test';
import type { Counted } from '../lab/load.ts';
import { sampleOf } from './rounds.ts';

const WHICH = { peer: 'ours', case: 'gateway.plain.connect', repetition: 1 };
const COUNTED: Counted = {
  completed: 1000,
  bytes: 800_000,
  errors: 0,
  elapsedNs: 500_000_000,
  processorNs: 100_000_000,
  latencyMedianUs: 700,
  latency99Us: 900,
};

describe('a sample', () => {
  test('has the cost of a unit and the rate', () => {
    expect(sampleOf(WHICH, 'connect', COUNTED)).toMatchObject({
      cost: 100,
      perSecond: 2000,
      errors: 0,
    });
  });

  test('with errors has no cost', () => {
    const sample = sampleOf(WHICH, 'connect', { ...COUNTED, errors: 7 });

    expect(sample).toMatchObject({ cost: 0, errors: 7 });
  });

  test('in which nothing got through has an error', () => {
    expect(sampleOf(WHICH, 'connect', { ...COUNTED, completed: 0 }).errors).toBe(1);
    expect(sampleOf(WHICH, 'download', { ...COUNTED, bytes: 0 }).errors).toBe(1);
  });

  test('of a process that used no time, and so was not the one at work, has an error', () => {
    expect(sampleOf(WHICH, 'connect', { ...COUNTED, processorNs: 0 }).errors).toBe(1);
  });

  test('of a load that did not end has an error', () => {
    expect(sampleOf(WHICH, 'connect', undefined).errors).toBe(1);
  });

  test('of bulk needs no whole transfer', () => {
    expect(sampleOf(WHICH, 'upload', { ...COUNTED, completed: 0 }).errors).toBe(0);
  });
});
