import { describe, expect, test } from 'bun:test';
import { ManualClock } from '../../clock/manual-clock.ts';
import type { KubeClient } from './client.ts';
import type { KubeObject } from '../object.ts';
import { RecentReads } from './recent-reads.ts';
import { RESOURCES } from '../resource.ts';
import { MemoryApiServer } from '../testing/memory/memory-api-server.ts';
import type { ApiObject } from '../store/object-store.ts';

const FRESH_MS = 1000;
const KEY = { namespace: 'default', name: 'one' };

function configMap(data: Record<string, string> = {}): ApiObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: KEY, data };
}

/** A server with one ConfigMap, and cached reads with a manual clock. */
class ReadsLab implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly reads: RecentReads;
  readonly client: KubeClient;
  readonly #server: MemoryApiServer;

  private constructor(server: MemoryApiServer) {
    this.#server = server;
    this.client = server.client();
    this.reads = new RecentReads(this.client, FRESH_MS, this.clock);
  }

  static async start(): Promise<ReadsLab> {
    const server = await MemoryApiServer.start();
    server.seed(configMap());
    return new ReadsLab(server);
  }

  async read(): Promise<KubeObject | undefined> {
    return this.reads.get(RESOURCES.configMap, KEY);
  }

  /** The number of requests to the server. */
  get requests(): number {
    return this.#server.requests().filter(({ verb }) => verb === 'get').length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}

describe('a read', () => {
  test('is requested once within the lifetime of the cache', async () => {
    await using lab = await ReadsLab.start();
    const first = await lab.read();

    lab.clock.advance(FRESH_MS - 1);
    const second = await lab.read();

    expect(second).toBe(first);
    expect(lab.requests).toBe(1);
  });

  test('is requested again after that', async () => {
    await using lab = await ReadsLab.start();
    await lab.read();
    await lab.client.patch(RESOURCES.configMap, KEY, 'merge', { data: { a: 'b' } });

    lab.clock.advance(FRESH_MS);

    expect(await lab.read()).toMatchObject({ data: { a: 'b' } });
    expect(lab.requests).toBe(2);
  });

  test('of an object that does not exist is cached too, until it is forgotten', async () => {
    await using lab = await ReadsLab.start();
    await lab.client.delete(RESOURCES.configMap, KEY);
    expect(await lab.read()).toBeUndefined();
    await lab.client.create(RESOURCES.configMap, configMap());
    expect(await lab.read()).toBeUndefined();

    lab.reads.forget(RESOURCES.configMap, KEY);

    expect(await lab.read()).toBeDefined();
  });

  test('returns an object that was put into the cache', async () => {
    await using lab = await ReadsLab.start();
    await lab.read();
    const written = await lab.client.patch(RESOURCES.configMap, KEY, 'merge', { data: { a: 'b' } });

    lab.reads.put(RESOURCES.configMap, written);

    expect(await lab.read()).toMatchObject({ data: { a: 'b' } });
    expect(lab.requests).toBe(1);
  });

  test('in progress does not replace an object that was put meanwhile', async () => {
    await using lab = await ReadsLab.start();
    const [asked, response] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = new Proxy(lab.client, {
      get(target, name: 'get' | 'server') {
        if (name !== 'get') return target[name];
        return async (...args: Parameters<KubeClient['get']>) => {
          const found = await target.get(...args);
          asked.resolve();
          await response.promise;
          return found;
        };
      },
    });
    const reads = new RecentReads(slow, FRESH_MS, lab.clock);
    const reading = reads.get(RESOURCES.configMap, KEY);
    await asked.promise;
    const written = await lab.client.patch(RESOURCES.configMap, KEY, 'merge', { data: { a: 'b' } });

    reads.put(RESOURCES.configMap, written);
    response.resolve();

    expect(await reading).toMatchObject({ data: { a: 'b' } });
    expect(await reads.get(RESOURCES.configMap, KEY)).toMatchObject({ data: { a: 'b' } });
    expect(lab.requests).toBe(1);
  });

  test('in progress is not cached if it was forgotten meanwhile', async () => {
    await using lab = await ReadsLab.start();

    const reading = lab.read();
    lab.reads.forget(RESOURCES.configMap, KEY);
    await reading;
    await lab.read();

    expect(lab.requests).toBe(2);
  });

  test('is removed from the cache after its lifetime', async () => {
    await using lab = await ReadsLab.start();
    await lab.read();
    await lab.reads.version();
    expect(lab.reads.size).toBe(2);

    lab.clock.advance(FRESH_MS);

    expect(lab.reads.size).toBe(0);
  });
});

test.each([
  ['null', null],
  ['a list with null', [null]],
  ['an entry without fields', [{ manager: 'a', fieldsV1: null }]],
])('an object with managedFields of %s is an invalid response', async (_, managedFields) => {
  const object = { ...configMap(), metadata: { ...KEY, managedFields } };
  const get = async () => Promise.resolve(object);
  const client = { server: 'https://192.0.2.1', get, version: get } as unknown as KubeClient;
  const reads = new RecentReads(client, FRESH_MS, new ManualClock());

  const error = await reads.get(RESOURCES.configMap, KEY).catch((failure: unknown) => failure);

  expect(error).toMatchObject({ reason: 'Malformed' });
});
