import { expect, test } from 'bun:test';
import type { KubeClient } from '../../../kube/client/client.ts';
import { RESOURCES } from '../../../kube/resource.ts';
import { MemoryApiServer } from '../../../kube/testing/memory/memory-api-server.ts';
import { ownedClient, TenantNotOwned } from './owned-client.ts';

const { configMap } = RESOURCES;
const key = { name: 'a', namespace: 'default' };
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key };

const WRITES: Readonly<Record<string, (client: KubeClient) => Promise<unknown>>> = {
  create: async (client) => client.create(configMap, object),
  replace: async (client) => client.replace(configMap, object),
  apply: async (client) => client.apply(object),
  patch: async (client) => client.patch(configMap, key, 'merge', {}),
  delete: async (client) => client.delete(configMap, key),
};

test.each(Object.entries(WRITES))('without the Lease, %s sends nothing', async (_verb, write) => {
  await using server = await MemoryApiServer.start();
  const client = ownedClient(server.client(), () => false);

  await expect(write(client)).rejects.toBeInstanceOf(TenantNotOwned);

  expect(server.requests()).toEqual([]);
});

test('reads and dry runs need no Lease', async () => {
  await using server = await MemoryApiServer.start();
  const client = ownedClient(server.client(), () => false);

  await client.apply(object, { dryRun: true });

  expect(await client.get(configMap, key)).toBeUndefined();
  expect((await client.list(configMap)).items).toEqual([]);
  expect(await client.count(configMap)).toBe(0);
});

test('the Lease is checked before each write', async () => {
  await using server = await MemoryApiServer.start();
  let isOwned = true;
  const client = ownedClient(server.client(), () => isOwned);
  await client.create(configMap, object);

  isOwned = false;

  await expect(client.delete(configMap, key)).rejects.toBeInstanceOf(TenantNotOwned);
});
