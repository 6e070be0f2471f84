import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { KubeClient } from './client/client.ts';
import { addFinalizer, removeFinalizer } from './finalizer.ts';
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

test('writes nothing if the finalizer is there, or gone, already', async () => {
  const withIt = seeded('with', [FINALIZER]);
  const withoutIt = seeded('without', ['other.dev/x']);
  const before = server.writes().length;

  expect(await addFinalizer(client, maps, withIt, FINALIZER)).toBe(withIt);
  expect(await removeFinalizer(client, maps, withoutIt, FINALIZER)).toBe(withoutIt);

  expect(server.writes().length).toBe(before);
});

test('keeps a finalizer that another writer added in the meantime', async () => {
  const old = seeded('meantime');
  const { name, namespace } = old.metadata;
  await client.patch(maps, { name, namespace }, 'merge', {
    metadata: { finalizers: ['other.dev/x'] },
  });

  const added = await addFinalizer(client, maps, old, FINALIZER);

  expect(added?.metadata.finalizers).toEqual(['other.dev/x', FINALIZER]);
});

test('loses none of four finalizers that are added at once', async () => {
  const object = seeded('crowd');
  const all = Array.from({ length: 4 }, (_, index) => `snicket.dev/f${index}`);

  await Promise.all(all.map((one) => addFinalizer(client, maps, object, one)));
  const { metadata } = (await client.get(maps, { name: 'crowd', namespace: 'default' }))!;

  expect(metadata.finalizers?.toSorted()).toEqual(all);
});

test('leaves an object of the same name that is another', async () => {
  const old = seeded('reborn');
  await client.delete(maps, { name: 'reborn', namespace: 'default' });
  const reborn = seeded('reborn');

  expect(await addFinalizer(client, maps, old, FINALIZER)).toBeUndefined();

  expect(server.read(maps, { name: 'reborn', namespace: 'default' })).toEqual(reborn);
});

test('puts none on an object that is being deleted', async () => {
  const object = seeded('going', ['other.dev/x']);
  await client.delete(maps, { name: 'going', namespace: 'default' });

  const left = await addFinalizer(client, maps, object, FINALIZER);

  expect(left?.metadata.finalizers).toEqual(['other.dev/x']);
  expect(left?.metadata.deletionTimestamp).toBeDefined();
});

test('gives up on a server that always says Conflict', async () => {
  const object = seeded('contended');
  server.inject({ kind: 'answer', status: 409, reason: 'Conflict' }, { verb: 'patch' }, 5);

  const failure = await addFinalizer(client, maps, object, FINALIZER).catch(
    (error: unknown) => error,
  );

  expect(failure).toMatchObject({ reason: 'Conflict' });
});

test('refuses an object without a version', async () => {
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'made-up', namespace: 'x' },
  };

  await expect(addFinalizer(client, maps, object, FINALIZER)).rejects.toThrow(
    'ConfigMap x/made-up was not read from a server',
  );
});
