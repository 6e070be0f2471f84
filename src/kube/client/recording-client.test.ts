import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { isKubeError } from '../kube-error.ts';
import type { KubeObject } from '../object.ts';
import { RESOURCES } from '../resource.ts';
import { createMemoryClient } from '../store/memory-client.ts';
import { ObjectStore, type ApiObject } from '../store/object-store.ts';
import type { KubeClient } from './client.ts';
import { RecordingClient } from './recording-client.ts';

const { configMap } = RESOURCES;

/** Returns a cluster with two ConfigMaps: one of another manager, one with a finalizer. */
async function cluster(): Promise<{ readonly client: KubeClient; readonly store: ObjectStore }> {
  const store = new ObjectStore({ historyLimit: 100 });
  const of = (fieldManager: string) =>
    createMemoryClient({
      store,
      resources: Object.values(RESOURCES),
      fieldManager,
      name: 'memory',
    });
  store.restore(RESOURCES.namespace, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'default' },
  });
  await of('other').apply(map('a', { shared: 'other' }));
  await of('other').apply(map('b', { own: '1' }, ['snicket.dev/test']));
  return { client: of('snicket'), store };
}

function map(
  name: string,
  data: Readonly<Record<string, string>>,
  finalizers?: readonly string[],
): ApiObject {
  const metadata = { name, namespace: 'default', ...(finalizers !== undefined && { finalizers }) };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
}

test('sends no write, and reads show what was recorded', async () => {
  const { client, store } = await cluster();
  const before = store.version;
  const recording = new RecordingClient(client);

  await recording.apply(map('new', { x: '1' }));
  await recording.delete(configMap, { name: 'a', namespace: 'default' });

  expect(store.version).toBe(before);
  const { items } = await recording.list<ApiObject>(configMap, { namespace: 'default' });
  expect(items.map(({ metadata }) => metadata.name).toSorted()).toEqual(['b', 'new']);
  expect(await recording.get(configMap, { name: 'a', namespace: 'default' })).toBeUndefined();
  expect(
    recording.writes.map(({ verb, before: was, after }) => [
      verb,
      was?.metadata.name,
      after?.metadata.name,
    ]),
  ).toEqual([
    ['apply', undefined, 'new'],
    ['delete', 'a', undefined],
  ]);
});

test('records nothing for a write that changes nothing, or that is refused', async () => {
  const { client } = await cluster();
  const recording = new RecordingClient(client);
  await recording.apply(map('new', { x: '1' }));

  await recording.apply(map('new', { x: '1' }));
  await recording.apply(map('new', { x: '2' }), { dryRun: true });
  const refused = await recording
    .apply(map('a', { shared: 'ours' }))
    .catch((error: unknown) => error);

  expect(isKubeError(refused, 'Conflict')).toBe(true);
  expect(recording.writes).toHaveLength(1);
});

test('a namespace whose existence is assumed is not listed', async () => {
  const { client } = await cluster();
  const recording = new RecordingClient(client);

  await recording.apply(map('new', {}));

  expect(await recording.count(RESOURCES.namespace)).toBe(1);
});

type Step = (client: KubeClient) => Promise<unknown>;

const name = fc.constantFrom('a', 'b', 'c');
const data = fc.dictionary(fc.constantFrom('shared', 'own', 'x'), fc.constantFrom('1', '2'), {
  noNullPrototype: true,
});
const key = (of: string) => ({ name: of, namespace: 'default' });

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(name, data, fc.boolean()).map(
    ([of, values, force]): Step =>
      async (client) =>
        client.apply(map(of, values), { force }),
  ),
  fc.tuple(name, data).map(
    ([of, values]): Step =>
      async (client) =>
        client.create(configMap, map(of, values)),
  ),
  fc.tuple(name, data).map(
    ([of, values]): Step =>
      async (client) =>
        client.patch(configMap, key(of), 'merge', { data: values }),
  ),
  fc.tuple(name, fc.boolean()).map(
    ([of, releases]): Step =>
      async (client) =>
        releases
          ? client.patch(configMap, key(of), 'merge', { metadata: { finalizers: null } })
          : client.delete(configMap, key(of)),
  ),
);

/** Returns the fields that do not depend on the time and place of a write. */
function content(object: KubeObject | undefined): unknown {
  if (object === undefined) return undefined;
  const { labels, annotations, finalizers, deletionTimestamp } = object.metadata;
  const { data: values } = object as ApiObject;
  const isDeleted = deletionTimestamp !== undefined;
  return { name: object.metadata.name, labels, annotations, finalizers, isDeleted, values };
}

async function outcome(work: Promise<unknown>): Promise<unknown> {
  try {
    const result = await work;
    return typeof result === 'boolean' ? result : content(result as KubeObject);
  } catch (error) {
    if (!isKubeError(error)) throw error;
    return error.reason;
  }
}

describe('any sequence of writes', () => {
  test('has the same outcome as on the API server', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const [dry, real] = [await cluster(), await cluster()];
        const recording = new RecordingClient(dry.client);

        for (const step of steps) {
          expect(await outcome(step(recording))).toEqual(await outcome(step(real.client)));
        }

        for (const of of ['a', 'b', 'c']) {
          expect(content(await recording.get(configMap, key(of)))).toEqual(
            content(await real.client.get(configMap, key(of))),
          );
        }
      }),
    );
  });
});
