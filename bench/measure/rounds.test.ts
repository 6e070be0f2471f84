import { describe, expect, test } from 'bun:test';
import type { LoadResult } from '../lab/load.ts';
import { sampleOf } from './rounds.ts';

const SAMPLE_ID = { peer: 'ours', case: 'gateway.plain.connect', repetition: 1 };
const COUNTED: LoadResult = {
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
    expect(sampleOf(SAMPLE_ID, 'connect', COUNTED)).toMatchObject({
      cost: 100,
      perSecond: 2000,
      errors: 0,
    });
  });

  test('with errors has no cost', () => {
    const sample = sampleOf(SAMPLE_ID, 'connect', { ...COUNTED, errors: 7 });

    expect(sample).toMatchObject({ cost: 0, errors: 7 });
  });

  test('without completed work has an error', () => {
    expect(sampleOf(SAMPLE_ID, 'connect', { ...COUNTED, completed: 0 }).errors).toBe(1);
    expect(sampleOf(SAMPLE_ID, 'download', { ...COUNTED, bytes: 0 }).errors).toBe(1);
  });

  test('of a process that used no CPU time has an error', () => {
    expect(sampleOf(SAMPLE_ID, 'connect', { ...COUNTED, processorNs: 0 }).errors).toBe(1);
  });

  test('of a load that did not end has an error', () => {
    expect(sampleOf(SAMPLE_ID, 'connect', undefined).errors).toBe(1);
  });

  test('of bulk does not require a complete transfer', () => {
    expect(sampleOf(SAMPLE_ID, 'upload', { ...COUNTED, completed: 0 }).errors).toBe(0);
  });
});
