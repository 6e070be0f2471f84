import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { KubeClient } from './client/client.ts';
import { addFinalizer, removeFinalizer } from './finalizer.ts';
import { OutdatedError } from './outdated-error.ts';
import { RESOURCES } from './resource.ts';
import { MemoryApiServer } from './testing/memory/memory-api-server.ts';
import type { ApiObject } from './store/object-store.ts';

const FINALIZER = 'snicket.dev/clean-up';
const maps = RESOURCES.configMap;
let server: MemoryApiServer;
let client: KubeClient;

beforeAll(async () => {
  server = await MemoryApiServer.start();
  client = server.client();
});

afterAll(async () => server?.[Symbol.asyncDispose]());

function seeded(name: string, finalizers: readonly string[] = []): ApiObject {
  const metadata = { name, namespace: 'default', finalizers };
  return server.seed({ apiVersion: 'v1', kind: 'ConfigMap', metadata })[0]!;
}

test('writes nothing if the finalizer exists, or was removed, already', async () => {
  const withIt = seeded('with', [FINALIZER]);
  const withoutIt = seeded('without', ['other.dev/x']);
  const before = server.writes().length;

  expect(await addFinalizer(client, maps, withIt, FINALIZER)).toBe(withIt);
  expect(await removeFinalizer(client, maps, withoutIt, FINALIZER)).toBe(withoutIt);

  expect(server.writes().length).toBe(before);
});

async function failureOf(change: Promise<unknown>): Promise<unknown> {
  return change.catch((error: unknown) => error);
}

test('does not change an object that another client has changed since it was read', async () => {
  const old = seeded('meantime');
  const { name, namespace } = old.metadata;
  const theirs = { metadata: { finalizers: ['other.dev/x'] } };
  const changed = await client.patch<ApiObject>(maps, { name, namespace }, 'merge', theirs);

  const failure = await failureOf(addFinalizer(client, maps, old, FINALIZER));
  const added = await addFinalizer(client, maps, changed, FINALIZER);

  expect(failure).toBeInstanceOf(OutdatedError);
  expect(failure).toMatchObject({ reason: 'Conflict' });
  expect(added?.metadata.finalizers).toEqual(['other.dev/x', FINALIZER]);
});

test('adds one of four finalizers that are added concurrently, and rejects the others', async () => {
  const object = seeded('crowd');
  const all = Array.from({ length: 4 }, (_, index) => `snicket.dev/f${index}`);

  const results = await Promise.all(
    all.map(async (finalizer) => failureOf(addFinalizer(client, maps, object, finalizer))),
  );
  const { metadata } = (await client.get(maps, { name: 'crowd', namespace: 'default' }))!;

  expect(results.filter((result) => result instanceof OutdatedError)).toHaveLength(3);
  expect(metadata.finalizers).toHaveLength(1);
});

test('does not change another object of the same name', async () => {
  const old = seeded('reborn');
  await client.delete(maps, { name: 'reborn', namespace: 'default' });
  const result = await addFinalizer(client, maps, old, FINALIZER);
  const reborn = seeded('reborn');

  expect(result).toBeUndefined();
  expect(await failureOf(addFinalizer(client, maps, old, FINALIZER))).toBeInstanceOf(OutdatedError);

  expect(server.read(maps, { name: 'reborn', namespace: 'default' })).toEqual(reborn);
});

test('adds none to an object that is being deleted', async () => {
  const key = { name: 'going', namespace: 'default' };
  seeded(key.name, ['other.dev/x']);
  await client.delete(maps, key);
  const going = (await client.get(maps, key))!;

  const left = await addFinalizer(client, maps, going, FINALIZER);

  expect(left?.metadata.finalizers).toEqual(['other.dev/x']);
  expect(left?.metadata.deletionTimestamp).toBeDefined();
});

test('rejects an object without a resourceVersion', async () => {
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'made-up', namespace: 'x' },
  };

  await expect(addFinalizer(client, maps, object, FINALIZER)).rejects.toThrow(
    'ConfigMap x/made-up was not read from a server',
  );
});
