import { describe, expect, test } from 'bun:test';
import { DrivenClock } from '../clock/testing/driven-clock.ts';
import { refused } from '../kube/testing/memory/memory-api-server.ts';
import { makeCa } from '../pki/testing/test-ca.ts';
import type { Dial } from '../probe/dial.ts';
import { probeExposure, type ProbeTarget } from '../probe/probe-exposure.ts';
import { createLogger } from '../telemetry/log.ts';
import { ProbeRounds } from './probe-rounds.ts';

/** Nothing listens there; whether the name resolves is for the test to say. */
const TARGET: ProbeTarget = {
  ...{ apiHost: 'blue.example.test', konnectivityHost: undefined, port: 1 },
  ...{ edgeAddresses: ['127.0.0.1'], tenantCa: 'none' },
};

const refuse: Dial = async () => Promise.reject(refused());

/** Rounds of one Exposure, and what they looked up and told. */
class RoundsLab implements Disposable {
  readonly told: string[] = [];
  readonly hosts: string[] = [];
  readonly clock = new DrivenClock();
  readonly rounds: ProbeRounds;
  readonly #ended = new AbortController();

  constructor(periodMs: number, dial = refuse) {
    this.rounds = new ProbeRounds({
      clock: this.clock,
      probe: async (target, options) => probeExposure(target, { ...options, dial }),
      log: createLogger({ write: () => {} }),
      periodMs,
      lookup: async (host) => {
        this.hosts.push(host);
        return Promise.resolve(['127.0.0.1']);
      },
      onChange: (exposure) => this.told.push(exposure),
    });
    void this.rounds.run(this.#ended.signal);
  }

  get lookups(): number {
    return this.hosts.length;
  }

  [Symbol.dispose](): void {
    this.#ended.abort();
  }
}

describe('a probe that fails', () => {
  test('is believed when it fails again', async () => {
    using lab = new RoundsLab(60_000);
    lab.rounds.aim('tenants/blue', TARGET);

    await lab.clock.until('it was probed once', () => lab.lookups > 0);
    expect(lab.rounds.isUpToDate('tenants/blue')).toBe(false);

    await lab.clock.until('it is told', () => lab.told.length > 0);
    expect(lab.lookups).toBeGreaterThanOrEqual(2);
    expect(lab.rounds.isUpToDate('tenants/blue')).toBe(true);
    const edge = lab.rounds.hopsOf('tenants/blue')?.find(({ name }) => name === 'edge');
    expect(edge?.state).toBe('Fail');
  });

  test('is told once as long as it says the same', async () => {
    using lab = new RoundsLab(60_000);
    lab.rounds.aim('tenants/blue', TARGET);
    await lab.clock.until('it is told', () => lab.told.length > 0);

    const end = lab.lookups + 3;
    await lab.clock.until('it was probed again', () => lab.lookups >= end);

    expect(lab.told).toEqual(['tenants/blue']);
  });
});

test('many where nobody answers do not keep another one waiting', async () => {
  let hangUps = 0;
  const silentPort = 2;
  const dial: Dial = async (address, port, signal) => {
    if (port !== silentPort) return refuse(address, port, signal);
    const { promise, reject } = Promise.withResolvers<never>();
    signal.addEventListener('abort', () => {
      hangUps++;
      reject(signal.reason as Error);
    });
    return promise;
  };
  const { certificate: tenantCa } = await makeCa();
  using lab = new RoundsLab(60_000, dial);
  for (let index = 0; index < 64; index++) {
    lab.rounds.aim(`tenants/silent-${index}`, {
      ...TARGET,
      port: silentPort,
      tenantCa,
      apiHost: `silent-${index}.example.test`,
    });
  }
  await lab.clock.until('all places are taken', () => lab.lookups >= 8);

  lab.rounds.aim('tenants/blue', TARGET);

  await lab.clock.until('its probe', () => lab.hosts.includes(TARGET.apiHost));
  // With eight places for all, it would have its own after 57 of them.
  expect(hangUps).toBeLessThan(56);
});
