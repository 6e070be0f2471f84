import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { ProbeTarget } from '../probe/probe-exposure.ts';
import { createLogger } from '../telemetry/log.ts';
import { ProbeRounds } from './probe-rounds.ts';
import { until } from './testing/until.ts';

setDefaultTimeout(30_000);

/** Nothing listens there; whether the name resolves is for the test to say. */
const TARGET: ProbeTarget = {
  ...{ apiHost: 'blue.example.test', konnectivityHost: undefined, port: 1 },
  ...{ edgeAddresses: ['127.0.0.1'], tenantCa: 'none' },
};

/** Rounds of one Exposure, and what they looked up and told. */
class RoundsLab implements Disposable {
  readonly told: string[] = [];
  lookups = 0;
  readonly rounds: ProbeRounds;
  readonly #ended = new AbortController();

  constructor(periodMs: number) {
    this.rounds = new ProbeRounds({
      log: createLogger({ write: () => {} }),
      periodMs,
      lookup: async () => {
        this.lookups++;
        return Promise.resolve(['127.0.0.1']);
      },
      onChange: (exposure) => this.told.push(exposure),
    });
    void this.rounds.run(this.#ended.signal);
  }

  [Symbol.dispose](): void {
    this.#ended.abort();
  }
}

describe('a probe that fails', () => {
  test('is believed when it fails again', async () => {
    using lab = new RoundsLab(20);
    lab.rounds.aim('tenants/blue', TARGET);

    await until('it was probed once', () => lab.lookups > 0);
    expect(lab.rounds.isUpToDate('tenants/blue')).toBe(false);

    await until('it is told', () => lab.told.length > 0);
    expect(lab.lookups).toBeGreaterThanOrEqual(2);
    expect(lab.rounds.isUpToDate('tenants/blue')).toBe(true);
    const edge = lab.rounds.hopsOf('tenants/blue')?.find(({ name }) => name === 'edge');
    expect(edge?.state).toBe('Fail');
  });

  test('is told once as long as it says the same', async () => {
    using lab = new RoundsLab(20);
    lab.rounds.aim('tenants/blue', TARGET);
    await until('it is told', () => lab.told.length > 0);

    const end = lab.lookups + 3;
    await until('it was probed again', () => lab.lookups >= end);

    expect(lab.told).toEqual(['tenants/blue']);
  });
});
