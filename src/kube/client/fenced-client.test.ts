import { expect, test } from 'bun:test';
import { RESOURCES } from '../resource.ts';
import { MemoryApiServer } from '../testing/memory/memory-api-server.ts';
import type { RoundTripper } from '../transport/round-tripper.ts';
import type { KubeClient } from './client.ts';
import { fencedClient } from './fenced-client.ts';

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

/** A server whose client waits for a connection before it sends a request. */
async function slowServer() {
  const server = await MemoryApiServer.start();
  const waiting = Promise.withResolvers<void>();
  const connected = Promise.withResolvers<void>();
  const direct = server.roundTripper(server.access);
  const afterWait = async () => {
    waiting.resolve();
    await connected.promise;
  };
  const roundTripper: RoundTripper = {
    fetch: async (...args) => afterWait().then(async () => direct.fetch(...args)),
    stream: async (...args) => afterWait().then(async () => direct.stream(...args)),
  };
  const client = server.client({ roundTripper });
  return { server, client, waiting: waiting.promise, connect: connected.resolve };
}

test.each(Object.entries(WRITES))(
  '%s that waits for a connection is not sent if writes become forbidden',
  async (_verb, write) => {
    const { server, client, waiting, connect } = await slowServer();
    await using _ = server;
    const faults: Error[] = [];
    let mayWrite = true;
    const fenced = (name: string) => (inner: KubeClient) =>
      fencedClient(inner, () => {
        if (mayWrite) return;
        const fault = new Error(name);
        faults.push(fault);
        throw fault;
      });
    const result = write(fenced('outer')(fenced('inner')(client))).catch((error: unknown) => error);
    await waiting;

    mayWrite = false;
    connect();

    expect(await result).toBe(faults[0]!);
    expect(faults).toMatchObject([{ message: 'outer' }]);
    expect(server.requests()).toEqual([]);
  },
);

test.each(Object.entries(WRITES))(
  '%s is refused before it waits for a connection',
  async (_verb, write) => {
    const { server, client } = await slowServer();
    await using _ = server;
    const fault = new Error('may not write');
    const fenced = fencedClient(client, () => {
      throw fault;
    });

    expect(await write(fenced).catch((error: unknown) => error)).toBe(fault);
    expect(server.requests()).toEqual([]);
  },
);
