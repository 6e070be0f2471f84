import { afterAll, beforeAll, describe } from 'bun:test';
import type { KubeClient } from '../client/client.ts';
import { createClient } from '../client/fetch-client.ts';
import { TestApiServer } from './api-server.ts';
import { kubeContract } from './contract.ts';

describe('the small API server', () => {
  let server: TestApiServer;
  let client: KubeClient;
  let other: KubeClient;

  beforeAll(async () => {
    server = await TestApiServer.start();
    server.compact();
    client = createClient(server.access);
    other = createClient(server.access, { fieldManager: 'other' });
  });

  afterAll(async () => server?.[Symbol.asyncDispose]());

  kubeContract(() => ({ client, other }));
});
