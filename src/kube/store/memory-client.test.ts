import { describe, expect, test } from 'bun:test';
import { RESOURCES, type Resource } from '../resource.ts';
import { kubeContract } from '../testing/contract.ts';
import { failureOf } from '../testing/contract/objects.ts';
import { createMemoryClient } from './memory-client.ts';
import { ObjectStore, type ApiObject, type ObjectPersistence } from './object-store.ts';

function clientsOf(store: ObjectStore) {
  const resources = Object.values(RESOURCES);
  const client = (fieldManager?: string) =>
    createMemoryClient({ store, resources, fieldManager, name: 'memory' });
  return { client: client(), other: client('other') };
}

function namespaced(name: string): ApiObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

describe('objects in memory', () => {
  const store = new ObjectStore({ historyLimit: 10_000 });
  for (const name of ['default', 'kube-public', 'kube-system']) {
    store.restore(RESOURCES.namespace, namespaced(name));
  }
  store.compact();
  const subject = clientsOf(store);

  kubeContract(() => subject);
});

const MAP: ApiObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'default' },
  data: { a: '1' },
};

test('a write that cannot be persisted has no effect', async () => {
  let isFull = false;
  const keep = () => {
    if (isFull) throw new Error('no space left on device');
  };
  const keeper: ObjectPersistence = { put: keep, remove: keep };
  const store = new ObjectStore({ historyLimit: 10, persistence: keeper });
  store.restore(RESOURCES.namespace, namespaced('default'));
  const { client } = clientsOf(store);
  const created = await client.create(RESOURCES.configMap, MAP);

  isFull = true;
  const patched = await failureOf(
    client.patch(RESOURCES.configMap, MAP.metadata, 'merge', { data: { a: '2' } }),
  );
  const removed = await failureOf(client.delete(RESOURCES.configMap, MAP.metadata));

  const refusal = {
    reason: 'ServerError',
    message: expect.stringContaining('no space left on device'),
  };
  expect(patched).toMatchObject(refusal);
  expect(removed).toMatchObject(refusal);
  expect(await client.get<ApiObject>(RESOURCES.configMap, MAP.metadata)).toEqual(created);
});

test('continues after the versions of restored objects', async () => {
  const store = new ObjectStore({ historyLimit: 10 });
  const resource: Resource = RESOURCES.configMap;
  store.restore(resource, { ...MAP, metadata: { ...MAP.metadata, resourceVersion: '41' } });
  const { client } = clientsOf(store);

  const { resourceVersion } = await client.list(resource);
  const next = await client.patch(resource, MAP.metadata, 'merge', { data: { a: '2' } });

  expect(resourceVersion).toBe('41');
  expect(next.metadata.resourceVersion).toBe('42');
});

test('changing an object after its write does not change the stored one', async () => {
  const store = new ObjectStore({ historyLimit: 10 });
  store.restore(RESOURCES.namespace, namespaced('default'));
  const { client } = clientsOf(store);
  const object = { ...MAP, data: { a: '1' } };

  await client.create(RESOURCES.configMap, object);
  object.data.a = '2';

  const found = await client.get<ApiObject>(RESOURCES.configMap, MAP.metadata);
  expect(found?.['data']).toEqual({ a: '1' });
});

test('an object is removed with its last finalizer, or keeps both if that fails', async () => {
  let isFull = false;
  const remove = () => {
    if (isFull) throw new Error('no space left on device');
  };
  const store = new ObjectStore({ historyLimit: 10, persistence: { put() {}, remove } });
  store.restore(RESOURCES.namespace, namespaced('default'));
  const { client } = clientsOf(store);
  const metadata = { ...MAP.metadata, finalizers: ['snicket.dev/tenant'] };
  await client.create(RESOURCES.configMap, { ...MAP, metadata });
  await client.delete(RESOURCES.configMap, MAP.metadata);
  const release = async () =>
    client.patch(RESOURCES.configMap, MAP.metadata, 'merge', { metadata: { finalizers: [] } });

  isFull = true;
  await failureOf(release());

  const held = await client.get(RESOURCES.configMap, MAP.metadata);
  expect(held?.metadata.finalizers).toEqual(['snicket.dev/tenant']);

  isFull = false;
  await release();

  expect(await client.get(RESOURCES.configMap, MAP.metadata)).toBeUndefined();
});
