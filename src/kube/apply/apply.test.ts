import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ManualClock } from '../../clock/manual-clock.ts';
import { Applier } from './apply.ts';
import { appliedHash, APPLIED_ANNOTATION, needsApply } from './needs-apply.ts';
import { conflictOwners } from './conflict.ts';
import type { KubeClient } from '../client/client.ts';
import { RESOURCES } from '../resource.ts';
import { MemoryApiServer } from '../testing/memory/memory-api-server.ts';
import type { ApiObject } from '../store/object-store.ts';

function map(name: string, data: Readonly<Record<string, string>>): ApiObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data };
}

/** Returns the object after an apply, with a default of the server. */
function live(desired: ApiObject, change: object = {}): ApiObject {
  const annotations = { [APPLIED_ANNOTATION]: appliedHash(desired) };
  const metadata = { ...desired.metadata, annotations, uid: 'u', resourceVersion: '1' };
  return { ...desired, immutable: false, metadata, ...change };
}

describe('needsApply', () => {
  const desired = map('a', { x: '1' });

  test('is true for an object that does not exist', () => {
    expect(needsApply(desired, undefined)).toBe(true);
  });

  test('is false for an object with all desired fields and others', () => {
    expect(needsApply(desired, live(desired))).toBe(false);
    expect(needsApply(desired, live(desired, { data: { x: '1', y: '2' } }))).toBe(false);
  });

  test('is true after another client has changed a desired field', () => {
    expect(needsApply(desired, live(desired, { data: { x: '2' } }))).toBe(true);
    expect(needsApply(desired, live(desired, { data: {} }))).toBe(true);
  });

  test('is true if a field that was applied is no longer desired', () => {
    const before = map('a', { x: '1', y: '2' });

    expect(needsApply(desired, live(before))).toBe(true);
  });

  test('is true for an object that was never applied', () => {
    expect(needsApply(desired, map('a', { x: '1' }))).toBe(true);
  });

  test('is false for a tolerated difference with the same value', () => {
    const changed = live(desired, { data: { x: '1000m' } });

    expect(needsApply(desired, changed, [{ path: '.data.x', found: '1000m' }])).toBe(false);
    expect(needsApply(desired, changed, [{ path: '.data.x', found: '1' }])).toBe(true);
  });

  test('depends on the values of fields and not on their order', () => {
    const data = fc.dictionary(fc.string(), fc.string(), { maxKeys: 6 });
    fc.assert(
      fc.property(data, data, (before, after) => {
        const shuffled = Object.fromEntries(Object.entries(before).toReversed());

        expect(needsApply(map('a', before), live(map('a', shuffled)))).toBe(false);
        expect(needsApply(map('a', before), live(map('a', after)))).toBe(
          !Bun.deepEquals(before, after),
        );
      }),
    );
  });
});

describe('an Applier', () => {
  let server: MemoryApiServer;
  let client: KubeClient;
  let other: KubeClient;
  let clock: ManualClock;
  let applier: Applier;
  const desired = map('kept', { x: '1' });
  const key = { name: 'kept', namespace: 'default' };
  const now = async () => client.get<ApiObject>(RESOURCES.configMap, key);
  const drift = async (x: string) =>
    other.patch<ApiObject>(RESOURCES.configMap, key, 'merge', { data: { x } });

  beforeAll(async () => {
    server = await MemoryApiServer.start();
    client = server.client();
    other = server.client({ fieldManager: 'other' });
  });

  afterAll(async () => server?.[Symbol.asyncDispose]());

  beforeEach(async () => {
    await client.delete(RESOURCES.configMap, key);
    clock = new ManualClock();
    applier = new Applier(client, { clock });
  });

  test('writes only once while nothing changes', async () => {
    await applier.applyIfNeeded(desired, undefined);
    const before = server.writes().length;

    for (let time = 0; time < 10; time++) {
      clock.advance(60_000);
      expect((await applier.applyIfNeeded(desired, await now())).outcome).toBe('unchanged');
    }

    expect(server.writes().length).toBe(before);
  });

  test('applies a changed desired state at once, including removed fields', async () => {
    await applier.applyIfNeeded(map('kept', { x: '1', y: '2' }), undefined);

    const less = await applier.applyIfNeeded(desired, await now());

    expect(less).toMatchObject({ outcome: 'applied', object: { data: { x: '1' } } });
    expect(less.object?.['data']).toEqual({ x: '1' });
  });

  test('names the owner of a conflicting field, and takes the field with force', async () => {
    await applier.applyIfNeeded(desired, undefined);
    clock.advance(60_000);
    const changed = await drift('theirs');

    const refused = await applier.applyIfNeeded(desired, changed).catch((error: unknown) => error);
    const forced = await applier.applyIfNeeded(desired, changed, { force: true });

    expect(conflictOwners(refused)).toEqual([{ manager: 'other', fields: ['.data.x'] }]);
    expect(forced).toMatchObject({ outcome: 'applied', object: { data: { x: '1' } } });
  });

  test('backs off while another client keeps reverting a field', async () => {
    await applier.applyIfNeeded(desired, undefined);
    clock.advance(60_000);
    const applies: number[] = [];

    for (let second = 0; second < 120; second++) {
      const result = await applier.applyIfNeeded(desired, await drift('theirs'), { force: true });
      if (result.outcome === 'applied') applies.push(second);
      else expect(result).toMatchObject({ outcome: 'held' });
      clock.advance(1_000);
    }

    expect(applies).toEqual([0, 2, 6, 14, 30, 62]);
  });

  test('returns how long to wait, and reverts the change after that', async () => {
    await applier.applyIfNeeded(desired, undefined);
    clock.advance(400);

    const held = await applier.applyIfNeeded(desired, await drift('theirs'), { force: true });
    expect(held).toMatchObject({ outcome: 'held', retryInMs: 600 });
    clock.advance(600);
    const repaired = await applier.applyIfNeeded(desired, await now(), { force: true });

    expect(repaired.outcome).toBe('applied');
  });

  test('resets the backoff after an hour without a conflicting write', async () => {
    await applier.applyIfNeeded(desired, undefined);
    for (let time = 0; time < 5; time++) {
      clock.advance(60_000);
      await applier.applyIfNeeded(desired, await drift('theirs'), { force: true });
    }
    clock.advance(3_600_000);

    await applier.applyIfNeeded(desired, await drift('theirs'), { force: true });
    clock.advance(1_000);
    const next = await applier.applyIfNeeded(desired, await drift('theirs'), { force: true });

    expect(next.outcome).toBe('applied');
  });

  test('backs off after another client has deleted the object', async () => {
    await applier.applyIfNeeded(desired, undefined);
    await client.delete(RESOURCES.configMap, key);

    const held = await applier.applyIfNeeded(desired, undefined);
    clock.advance(1_000);
    const recreated = await applier.applyIfNeeded(desired, undefined);

    expect(held).toMatchObject({ outcome: 'held', object: undefined, retryInMs: 1_000 });
    expect(recreated.outcome).toBe('applied');
  });

  test('accepts the form to which the server converts a value', async () => {
    const applies: string[] = [];
    const stubborn: KubeClient = {
      ...client,
      apply: async (object) => {
        applies.push(object.metadata.name);
        return { ...object, data: { x: '1000m' } };
      },
    };
    const stubbornApplier = new Applier(stubborn, { clock });
    const first = await stubbornApplier.applyIfNeeded(desired, undefined);

    for (let time = 0; time < 10; time++) {
      clock.advance(3_600_000);
      const next = await stubbornApplier.applyIfNeeded(desired, first.object);
      expect(next.outcome).toBe('unchanged');
    }

    expect(applies).toEqual(['kept']);
  });

  test('accepts items of other managers in a list', async () => {
    const port = (name: string, number: number) => ({ name, port: number, protocol: 'TCP' });
    const service = (...ports: readonly object[]): ApiObject => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'kept', namespace: 'default' },
      spec: { ports },
    });
    const wanted = service(port('api', 443));
    await applier.applyIfNeeded(wanted, undefined);
    const shared = await other.apply(service(port('theirs', 8080)));
    clock.advance(60_000);

    const tried = await applier.applyIfNeeded(wanted, shared);
    clock.advance(60_000);
    const settled = await applier.applyIfNeeded(wanted, tried.object);

    expect(tried.outcome).toBe('applied');
    expect(settled.outcome).toBe('unchanged');
  });
});
