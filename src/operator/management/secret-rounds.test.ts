import { describe, expect, test } from 'bun:test';
import { keyText, type KubeObject, type ObjectKey } from '../../kube/object.ts';
import { createLogger } from '../../telemetry/log.ts';
import { until } from '../testing/until.ts';
import { SecretRounds } from './secret-rounds.ts';

const CA = { namespace: 'tenants', name: 'ca' };

/** Secrets of which only the version is known, and who was told to be looked at. */
class RoundsLab implements Disposable {
  readonly versions = new Map([[keyText(CA), '1']]);
  readonly told: string[] = [];
  reads = 0;
  readonly rounds = new SecretRounds({
    log: createLogger({ write: () => {} }),
    periodMs: 5,
    read: async (key) => Promise.resolve(this.#read(key)),
    onChange: (exposure) => this.told.push(exposure),
  });
  readonly #ended = new AbortController();

  constructor() {
    void this.rounds.run(this.#ended.signal);
  }

  #read({ name, namespace }: ObjectKey): KubeObject | undefined {
    this.reads++;
    const resourceVersion = this.versions.get(`${namespace}/${name}`);
    if (resourceVersion === undefined) return undefined;
    return { apiVersion: 'v1', kind: 'Secret', metadata: { name, resourceVersion } };
  }

  async untilRead(times: number): Promise<void> {
    const end = this.reads + times;
    await until(`${times} reads`, () => this.reads >= end);
  }

  [Symbol.dispose](): void {
    this.#ended.abort();
  }
}

describe('a Secret that an Exposure rests on', () => {
  test('is read again and again, and nobody is told while it is the same', async () => {
    using lab = new RoundsLab();

    lab.rounds.follow('tenants/blue', [{ key: CA, version: '1' }]);

    await lab.untilRead(3);
    expect(lab.told).toEqual([]);
  });

  test.each<[string, string | undefined, string | undefined]>([
    ['another', '1', '2'],
    ['gone', '1', undefined],
    ['there at last', undefined, '1'],
  ])('has its Exposure looked at when it is %s', async (_, before, after) => {
    using lab = new RoundsLab();
    if (before === undefined) lab.versions.delete(keyText(CA));
    lab.rounds.follow('tenants/blue', [{ key: CA, version: before }]);
    await lab.untilRead(1);

    if (after === undefined) lab.versions.delete(keyText(CA));
    else lab.versions.set(keyText(CA), after);

    await until('it is told', () => lab.told.includes('tenants/blue'));
  });

  test('is followed in the version of the last look', async () => {
    using lab = new RoundsLab();
    lab.rounds.follow('tenants/blue', [{ key: CA, version: '0' }]);
    await until('it is told', () => lab.told.length > 0);

    lab.rounds.follow('tenants/blue', [{ key: CA, version: '1' }]);
    lab.told.length = 0;

    await lab.untilRead(3);
    expect(lab.told).toEqual([]);
  });

  test('is read no more when the Exposure is gone', async () => {
    using lab = new RoundsLab();
    lab.rounds.follow('tenants/blue', [{ key: CA, version: '1' }]);
    lab.rounds.follow('tenants/green', [{ key: { ...CA, name: 'other' }, version: undefined }]);

    lab.rounds.forget('tenants/blue');

    lab.versions.set(keyText(CA), '2');
    await lab.untilRead(3);
    expect(lab.told).toEqual([]);
  });
});
