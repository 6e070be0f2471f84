import { afterAll, beforeAll, describe } from 'bun:test';
import type { KubeClient } from '../client/client.ts';
import { TestApiServer } from './api-server.ts';
import { kubeContract } from './contract.ts';
import { MemoryApiServer } from './memory/memory-api-server.ts';
import type { TestCluster } from './test-cluster.ts';

/** Tests cannot wait a minute for a bookmark. */
const OPTIONS = { bookmarkEveryMs: 50 };

describe.each<[string, () => Promise<TestCluster>]>([
  ['over TLS', async () => TestApiServer.start(OPTIONS)],
  ['in memory', async () => MemoryApiServer.start(OPTIONS)],
])('the small API server %s', (_front, start) => {
  let server: TestCluster;
  let client: KubeClient;
  let other: KubeClient;

  beforeAll(async () => {
    server = await start();
    server.compact();
    client = server.client();
    other = server.client({ fieldManager: 'other' });
  });

  afterAll(async () => server?.[Symbol.asyncDispose]());

  kubeContract(() => ({ client, other }));
});
