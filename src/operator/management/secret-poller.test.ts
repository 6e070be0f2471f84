import { describe, expect, test } from 'bun:test';
import { DrivenClock } from '../../clock/testing/driven-clock.ts';
import { keyText, type KubeObject, type ObjectKey } from '../../kube/object.ts';
import { createLogger } from '../../telemetry/log.ts';
import { SecretPoller } from './secret-poller.ts';

const CA = { namespace: 'tenants', name: 'ca' };
const PERIOD_MS = 120_000;

/** Secrets of which only the version is known, and the Exposures that were reported as changed. */
class PollerLab implements Disposable {
  readonly versions = new Map([[keyText(CA), '1']]);
  readonly changed: string[] = [];
  /** When each read took place. */
  readonly readsMs: number[] = [];
  readonly clock = new DrivenClock();
  readonly poller = new SecretPoller({
    log: createLogger({ write: () => {} }),
    periodMs: PERIOD_MS,
    maxPeriodMs: 8 * PERIOD_MS,
    clock: this.clock,
    random: () => 0.5,
    read: async (key) => Promise.resolve(this.#read(key)),
    onChange: (exposure) => this.changed.push(exposure),
  });
  readonly #ended = new AbortController();

  constructor() {
    void this.poller.run(this.#ended.signal);
  }

  #read({ name, namespace }: ObjectKey): KubeObject | undefined {
    this.readsMs.push(this.clock.nowMs());
    const resourceVersion = this.versions.get(`${namespace}/${name}`);
    if (resourceVersion === undefined) return undefined;
    return { apiVersion: 'v1', kind: 'Secret', metadata: { name, resourceVersion } };
  }

  async untilReads(total: number): Promise<void> {
    await this.clock.until(`${total} reads`, () => this.readsMs.length >= total, 86_400_000);
  }

  /** Times between reads, in periods. */
  get periods(): readonly number[] {
    return this.readsMs
      .slice(1)
      .map((ms, index) => Math.round((ms - this.readsMs[index]!) / PERIOD_MS));
  }

  [Symbol.dispose](): void {
    this.#ended.abort();
  }
}

describe('a Secret that an Exposure depends on', () => {
  test('is read less and less often while nothing changes, and reports nothing', async () => {
    using lab = new PollerLab();

    lab.poller.follow('tenants/blue', [{ key: CA, version: '1' }]);

    await lab.untilReads(7);
    expect(lab.periods).toEqual([2, 4, 8, 8, 8, 8]);
    expect(lab.changed).toEqual([]);
  });

  test('keeps its period when a reconcile reads the same version', async () => {
    using lab = new PollerLab();
    lab.poller.follow('tenants/blue', [{ key: CA, version: '1' }]);
    await lab.untilReads(4);

    lab.poller.follow('tenants/blue', [{ key: CA, version: '1' }]);

    await lab.untilReads(5);
    expect(lab.periods.at(-1)).toBe(8);
  });

  test('is read at the full rate again after an event', async () => {
    using lab = new PollerLab();
    lab.poller.follow('tenants/blue', [{ key: CA, version: '1' }]);
    await lab.untilReads(4);

    lab.poller.hasten('tenants/blue');

    await lab.untilReads(6);
    expect(lab.periods.slice(-2)).toEqual([1, 2]);
  });

  test.each<[string, string | undefined, string | undefined]>([
    ['has changed', '1', '2'],
    ['was deleted', '1', undefined],
    ['was created', undefined, '1'],
  ])('has its Exposure reconciled when it %s', async (_, before, after) => {
    using lab = new PollerLab();
    if (before === undefined) lab.versions.delete(keyText(CA));
    lab.poller.follow('tenants/blue', [{ key: CA, version: before }]);
    await lab.untilReads(1);

    if (after === undefined) lab.versions.delete(keyText(CA));
    else lab.versions.set(keyText(CA), after);

    await lab.clock.until('the change is reported', () => lab.changed.includes('tenants/blue'));
  });

  test('is compared with the version of the last reconcile', async () => {
    using lab = new PollerLab();
    lab.poller.follow('tenants/blue', [{ key: CA, version: '0' }]);
    await lab.clock.until('the change is reported', () => lab.changed.length > 0);

    lab.poller.follow('tenants/blue', [{ key: CA, version: '1' }]);
    lab.changed.length = 0;

    await lab.untilReads(4);
    expect(lab.changed).toEqual([]);
  });

  test('is no longer read when the Exposure is gone', async () => {
    using lab = new PollerLab();
    lab.poller.follow('tenants/blue', [{ key: CA, version: '1' }]);
    lab.poller.follow('tenants/green', [{ key: { ...CA, name: 'other' }, version: undefined }]);

    lab.poller.forget('tenants/blue');

    lab.versions.set(keyText(CA), '2');
    await lab.untilReads(3);
    expect(lab.changed).toEqual([]);
  });
});
