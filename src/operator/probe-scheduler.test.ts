import { describe, expect, test } from 'bun:test';
import { DrivenClock } from '../clock/testing/driven-clock.ts';
import { refused } from '../kube/testing/memory/memory-api-server.ts';
import { makeCa } from '../pki/testing/test-ca.ts';
import type { Dial } from '../probe/dial.ts';
import type { HopResult } from '../probe/hop.ts';
import { hopResult } from '../probe/hop.ts';
import { probeExposure, type ProbeTarget } from '../probe/probe-exposure.ts';
import { createLogger } from '../telemetry/log.ts';
import { ProbeScheduler } from './probe-scheduler.ts';

/** Nothing listens there; whether the name resolves is for the test to say. */
const TARGET: ProbeTarget = {
  apiHost: 'blue.example.test',
  konnectivityHost: undefined,
  port: 1,
  edgeAddresses: ['127.0.0.1'],
  tenantCa: 'none',
};

const refuse: Dial = async () => Promise.reject(refused());

/** A scheduler for one Exposure. Records the hosts that were resolved and the changes that were reported. */
class SchedulerLab implements Disposable {
  readonly reported: string[] = [];
  readonly hosts: string[] = [];
  readonly clock = new DrivenClock();
  readonly scheduler: ProbeScheduler;
  readonly #ended = new AbortController();

  constructor(periodMs: number, dial = refuse) {
    this.scheduler = new ProbeScheduler({
      random: Math.random,
      clock: this.clock,
      tenantClient: () => undefined,
      probe: async (target, options) => probeExposure(target, { ...options, dial }),
      log: createLogger({ write: () => {} }),
      periodMs,
      lookup: async (host) => {
        this.hosts.push(host);
        return Promise.resolve(['127.0.0.1']);
      },
      onChange: (exposure) => this.reported.push(exposure),
    });
    void this.scheduler.run(this.#ended.signal);
  }

  get lookups(): number {
    return this.hosts.length;
  }

  [Symbol.dispose](): void {
    this.#ended.abort();
  }
}

describe('a probe that fails', () => {
  test('is reported when it fails again', async () => {
    using lab = new SchedulerLab(60_000);
    lab.scheduler.setTarget('tenants/blue', TARGET);

    await lab.clock.until('it was probed once', () => lab.lookups > 0);
    expect(lab.scheduler.isUpToDate('tenants/blue')).toBe(false);

    await lab.clock.until('it is reported', () => lab.reported.length > 0);
    expect(lab.lookups).toBeGreaterThanOrEqual(2);
    expect(lab.scheduler.isUpToDate('tenants/blue')).toBe(true);
    const edge = lab.scheduler.hopsOf('tenants/blue')?.find(({ name }) => name === 'edge');
    expect(edge?.state).toBe('Fail');
  });

  test('is reported once while the result stays the same', async () => {
    using lab = new SchedulerLab(60_000);
    lab.scheduler.setTarget('tenants/blue', TARGET);
    await lab.clock.until('it is reported', () => lab.reported.length > 0);

    const end = lab.lookups + 3;
    await lab.clock.until('it was probed again', () => lab.lookups >= end);

    expect(lab.reported).toEqual(['tenants/blue']);
  });
});

/** A scheduler for one Exposure whose edge is down when the test says so. */
class FlappingLab implements Disposable {
  /** Whether the edge is down at a time, in milliseconds. */
  isDown: (nowMs: number) => boolean = () => false;
  probes = 0;
  /** `Pass` or `Fail`, each time that it is reported. */
  readonly reported: string[] = [];
  readonly clock = new DrivenClock();
  readonly scheduler: ProbeScheduler;
  readonly #ended = new AbortController();

  constructor(isKnown = false) {
    this.scheduler = new ProbeScheduler({
      random: Math.random,
      clock: this.clock,
      tenantClient: () => undefined,
      probe: async () => {
        this.probes++;
        const isDown = this.isDown(this.clock.nowMs());
        return Promise.resolve([
          isDown
            ? hopResult('edge', 'EdgeRefused', 'edge', 'down', { port: '443' })
            : hopResult('edge', 'Passed', 'edge', 'up'),
        ]);
      },
      log: createLogger({ write: () => {} }),
      periodMs: 60_000,
      onChange: () => {
        const [edge] = this.scheduler.hopsOf(KEY) ?? [];
        this.reported.push(edge?.state ?? 'none');
      },
    });
    this.scheduler.setTarget(KEY, TARGET, isKnown);
    void this.scheduler.run(this.#ended.signal);
  }

  /** How often the reported state turned. */
  get transitions(): number {
    return this.reported.filter((state, at) => at > 0 && state !== this.reported[at - 1]).length;
  }

  [Symbol.dispose](): void {
    this.#ended.abort();
  }
}

const KEY = 'tenants/blue';

describe('a target that was reachable', () => {
  test('is reported as failing after three failures over at least 30 seconds', async () => {
    using lab = new FlappingLab();
    await lab.clock.until('it is reachable', () => lab.reported.length > 0);
    const before = lab.probes;
    let downSinceMs: number | undefined;
    lab.isDown = (nowMs) => {
      downSinceMs ??= nowMs;
      return true;
    };

    await lab.clock.until('it is suspect', () => lab.scheduler.isSuspect(KEY));
    expect(lab.scheduler.hopsOf(KEY)?.[0]?.state).toBe('Pass');
    await lab.clock.until('it is reported', () => lab.reported.includes('Fail'));

    expect(lab.probes - before).toBeGreaterThanOrEqual(3);
    expect(lab.clock.nowMs() - downSinceMs!).toBeGreaterThanOrEqual(30_000);
    expect(lab.scheduler.isSuspect(KEY)).toBe(false);
  });

  test('is reported as reachable again after one success', async () => {
    using lab = new FlappingLab();
    await lab.clock.until('it is reachable', () => lab.reported.length > 0);
    lab.isDown = () => true;
    await lab.clock.until('it fails', () => lab.reported.includes('Fail'));
    const before = lab.probes;
    lab.isDown = () => false;

    await lab.clock.until('it is reachable', () => lab.reported.at(-1) === 'Pass');

    expect(lab.probes - before).toBe(1);
  });

  test('keeps its state while the edge flaps', async () => {
    using lab = new FlappingLab();
    await lab.clock.until('it is reachable', () => lab.reported.length > 0);
    // 10 seconds of every 20.
    lab.isDown = (nowMs) => nowMs % 20_000 < 10_000;

    const endMs = lab.clock.nowMs() + 3_000_000;
    await lab.clock.until('50 minutes are over', () => lab.clock.nowMs() > endMs);

    expect(lab.transitions).toBe(0);
    expect(lab.scheduler.hopsOf(KEY)?.[0]?.state).toBe('Pass');
  });

  test('is damped in a process that knows it from the status only', async () => {
    using lab = new FlappingLab(true);
    const beginMs = lab.clock.nowMs();
    lab.isDown = () => true;

    await lab.clock.until('it is reported', () => lab.reported.length > 0);

    expect(lab.clock.nowMs() - beginMs).toBeGreaterThanOrEqual(30_000);
  });

  test('is reported when a suspected failure is over, for a move that waits', async () => {
    using lab = new FlappingLab();
    await lab.clock.until('it is reachable', () => lab.reported.length > 0);
    lab.isDown = () => true;
    await lab.clock.until('it is suspect', () => lab.scheduler.isSuspect(KEY));
    lab.isDown = () => false;

    await lab.clock.until('it is reported', () => lab.reported.length > 1);

    expect(lab.reported).toEqual(['Pass', 'Pass']);
    expect(lab.scheduler.isSuspect(KEY)).toBe(false);
  });
});

test('many targets that do not answer do not delay another one', async () => {
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
  using lab = new SchedulerLab(60_000, dial);
  for (let index = 0; index < 64; index++) {
    lab.scheduler.setTarget(`tenants/silent-${index}`, {
      ...TARGET,
      port: silentPort,
      tenantCa,
      apiHost: `silent-${index}.example.test`,
    });
  }
  await lab.clock.until('all places are taken', () => lab.lookups >= 8);

  lab.scheduler.setTarget('tenants/blue', TARGET);

  await lab.clock.until('its probe', () => lab.hosts.includes(TARGET.apiHost));
  // With eight places for all, it would have its own after 57 of them.
  expect(hangUps).toBeLessThan(56);
});

describe('a target where nothing changes', () => {
  /** The times between probes of one Exposure, in periods. */
  async function periods(
    probes: number,
    act: (scheduler: ProbeScheduler, probe: number) => void,
    code: HopResult['code'] = 'Passed',
  ): Promise<readonly number[]> {
    const clock = new DrivenClock();
    const timesMs: number[] = [];
    const ended = new AbortController();
    const hops: readonly HopResult[] = [
      { name: 'certificate', target: 'blue', state: 'Pass', code, message: 'a certificate' },
    ];
    const scheduler = new ProbeScheduler({
      clock,
      random: () => 0.5,
      tenantClient: () => undefined,
      periodMs: 60_000,
      log: createLogger({ write: () => {} }),
      probe: async () => {
        timesMs.push(clock.nowMs());
        return Promise.resolve(hops);
      },
      onChange: () => {},
    });
    void scheduler.run(ended.signal);
    scheduler.setTarget('tenants/blue', TARGET);
    for (let probe = 1; probe <= probes; probe++) {
      await clock.until(`probe ${probe}`, () => timesMs.length >= probe);
      await clock.quiet();
      act(scheduler, probe);
    }
    ended.abort();
    return timesMs.slice(1).map((ms, index) => Math.round((ms - timesMs[index]!) / 60_000));
  }

  test('is probed less and less often', async () => {
    expect(await periods(7, () => {})).toEqual([1, 2, 4, 8, 10, 10]);
  });

  test('is probed at the full rate again after an event', async () => {
    const hastened = await periods(7, (scheduler, probe) => {
      if (probe === 4) scheduler.hasten('tenants/blue');
    });

    expect(hastened).toEqual([1, 2, 4, 1, 2, 4]);
  });

  test('is probed at the full rate while a certificate is about to expire', async () => {
    expect(await periods(5, () => {}, 'CertificateExpiresSoon')).toEqual([1, 1, 1, 1]);
  });
});

test('the result of a previous target says nothing about the new one', async () => {
  const clock = new DrivenClock();
  const ended = new AbortController();
  const results: PromiseWithResolvers<readonly HopResult[]>[] = [];
  const scheduler = new ProbeScheduler({
    random: Math.random,
    clock,
    tenantClient: () => undefined,
    log: createLogger({ write: () => {} }),
    probe: async () => {
      const result = Promise.withResolvers<readonly HopResult[]>();
      results.push(result);
      return result.promise;
    },
    onChange: () => {},
  });
  void scheduler.run(ended.signal);
  scheduler.setTarget('tenants/blue', TARGET);
  await clock.until('the first probe runs', () => results.length === 1);

  scheduler.setTarget('tenants/blue', { ...TARGET, apiHost: 'green.example.test' });
  results[0]!.resolve([]);
  await clock.until('the new target is probed', () => results.length === 2);

  expect(scheduler.hopsOf('tenants/blue')).toBeUndefined();
  ended.abort();
  results[1]!.resolve([]);
});
