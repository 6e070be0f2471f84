import { describe, expect, test } from 'bun:test';
import { ManualClock } from '../../clock/manual-clock.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { KubeError } from '../../kube/kube-error.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { MemoryApiServer } from '../../kube/testing/memory/memory-api-server.ts';
import type { TestCluster } from '../../kube/testing/test-cluster.ts';
import { hopResult, type HopResult } from '../hop.ts';
import { AgentCheck, TRIED_NODES, type AgentClient } from './agents.ts';

const LIMITS = { timeoutMs: 5_000 };
const SERVER = hopResult('konnectivity', 'Passed', 'a.konnectivity.test:443', 'TLS passes.');
const NO_AGENT = { kind: 'error', status: 503, reason: 'ServiceUnavailable' } as const;

function healthz(node: string): string {
  return `/api/v1/nodes/${node}/proxy/healthz`;
}

/** A tenant with these nodes. */
async function tenantWith(nodes: Readonly<Record<string, 'True' | 'False'>>): Promise<TestCluster> {
  const server = await MemoryApiServer.start();
  for (const [name, status] of Object.entries(nodes)) {
    server.seed({ apiVersion: 'v1', kind: RESOURCES.node.kind, metadata: { name } });
    const body = { status: { conditions: [{ type: 'Ready', status }] } };
    const options = { subresource: 'status' } as const;
    await server.client().patch(RESOURCES.node, { name }, 'merge', body, options);
  }
  return server;
}

/** From now on the API server cannot dial these kubelets. */
function cutOff(server: TestCluster, ...nodes: readonly string[]): void {
  for (const node of nodes) server.inject(NO_AGENT, { plural: healthz(node) }, Infinity);
}

/** Kinds and paths of all requests that read. */
function reads(server: TestCluster): readonly string[] {
  const requests = server.requests().filter(({ verb }) => verb === 'list' || verb === 'read');
  return requests.map(({ plural }) => plural);
}

async function results(check: AgentCheck, times: number): Promise<readonly HopResult[]> {
  const all: HopResult[] = [];
  while (all.length < times) all.push(await check.complete(SERVER, LIMITS));
  return all;
}

describe('an agent is connected', () => {
  test('if a kubelet responds, and a steady tenant then gets one request per check', async () => {
    await using server = await tenantWith({ a: 'True', b: 'True' });
    const client = server.client();

    const [first, ...others] = await results(new AgentCheck(() => client), 3);

    expect(first).toMatchObject({ state: 'Pass', code: 'Passed' });
    expect(first?.message).toBe('TLS passes. An agent is connected.');
    expect(others).toEqual([first!, first!]);
    expect(reads(server)).toEqual(['nodes', healthz('a'), healthz('a'), healthz('a')]);
  });

  test.each([200, 401, 403, 500])('if a kubelet responds with status %d', async (status) => {
    const client = clientOf(async () => Promise.resolve(status));

    const [result] = await results(new AgentCheck(() => client), 1);

    expect(result?.code).toBe('Passed');
  });

  test('if one of several nodes responds', async () => {
    await using server = await tenantWith({ a: 'True', b: 'True' });
    cutOff(server, 'a');
    const client = server.client();

    const [first, ...others] = await results(new AgentCheck(() => client), 3);

    expect(first?.code).toBe('KonnectivityNoAgent');
    expect(others.map(({ code }) => code)).toEqual(['Passed', 'Passed']);
  });

  test('keeps what the check of the server warns of', async () => {
    await using server = await tenantWith({ a: 'True' });
    const client = server.client();
    const warning = hopResult('konnectivity', 'Degraded', 'x', 'Half of it.', { address: 'y' });

    const result = await new AgentCheck(() => client).complete(warning, LIMITS);

    expect(result).toEqual({ ...warning, message: 'Half of it. An agent is connected.' });
  });
});

describe('no agent is connected', () => {
  test('if the API server does not reach the kubelets of ready nodes', async () => {
    await using server = await tenantWith({ a: 'True', b: 'False', c: 'True' });
    cutOff(server, 'a', 'b', 'c');
    const client = server.client();

    const [first, second] = await results(new AgentCheck(() => client), 2);

    expect(first).toMatchObject({ state: 'Fail', code: 'KonnectivityNoAgent' });
    expect(first?.message).toBe(
      'The API server reaches no kubelet of a ready node through konnectivity: injected: ServiceUnavailable.',
    );
    expect(first?.action).toContain('a.konnectivity.test:443');
    // The same text for every node, so that the status does not change.
    expect(second).toEqual(first);
    expect(reads(server).filter((path) => path.includes('proxy'))).toEqual([
      healthz('a'),
      healthz('c'),
    ]);
  });

  test('until a kubelet responds', async () => {
    await using server = await tenantWith({ a: 'True' });
    cutOff(server, 'a');
    const client = server.client();
    const check = new AgentCheck(() => client);
    await results(check, 1);

    server.clearFaults();

    expect((await results(check, 1))[0]?.code).toBe('Passed');
  });

  test('only after several nodes, where one check may request several', async () => {
    await using server = await tenantWith({ a: 'True', b: 'True', c: 'True', d: 'True' });
    cutOff(server, 'a', 'b');
    const client = server.client();

    const [one] = await results(new AgentCheck(() => client, TRIED_NODES), 1);
    cutOff(server, 'c');
    const [none] = await results(new AgentCheck(() => client, TRIED_NODES), 1);

    expect([one?.code, none?.code]).toEqual(['Passed', 'KonnectivityNoAgent']);
  });
});

describe('it is unknown whether an agent is connected', () => {
  test('if there is no connection to the tenant', async () => {
    const [result] = await results(new AgentCheck(() => undefined), 1);

    expect(result).toMatchObject({ state: 'Skip', code: 'NotObserved' });
    expect(result?.message).toBe(
      'TLS passes. Whether an agent is connected is unknown: not checked because the API of the tenant is not reachable (see WorkersReady).',
    );
  });

  test('if no node is ready and none responds', async () => {
    await using server = await tenantWith({ a: 'False' });
    cutOff(server, 'a');
    const client = server.client();

    const [result] = await results(new AgentCheck(() => client), 1);

    expect(result).toMatchObject({ state: 'Skip', code: 'AgentCheckInconclusive' });
    expect(result?.message).toContain('503: injected: ServiceUnavailable');
  });

  test('if the node that responded before does not, whose readiness is read the next time', async () => {
    await using server = await tenantWith({ a: 'True' });
    const client = server.client();
    const check = new AgentCheck(() => client);
    await results(check, 1);
    cutOff(server, 'a');

    const codes = (await results(check, 2)).map(({ code }) => code);

    expect(codes).toEqual(['AgentCheckInconclusive', 'KonnectivityNoAgent']);
  });

  test.each(['nodes', healthz('a')])('if %s is forbidden, with a hint', async (plural) => {
    await using server = await tenantWith({ a: 'True' });
    server.inject({ kind: 'error', status: 403, reason: 'Forbidden' }, { plural });
    const client = server.client();

    const [result] = await results(new AgentCheck(() => client, TRIED_NODES), 1);

    expect(result).toMatchObject({ state: 'Skip', code: 'AgentCheckForbidden' });
    expect(result?.message).toEndWith('lacks a permission: injected: Forbidden.');
    expect(result?.action).toContain('get nodes/proxy');
  });

  test.each([500, 429, 504])('if the API server itself responds with status %d', async (status) => {
    await using server = await tenantWith({ a: 'True' });
    server.inject({ kind: 'error', status, reason: 'Other' }, { plural: healthz('a') });
    const client = server.client();

    const [result] = await results(new AgentCheck(() => client), 1);

    expect(result?.code).toBe('AgentCheckInconclusive');
  });

  test.each([
    ['a proxy in front of the API server', 502],
    ['an overloaded API server', 429],
  ])('if %s responds with the plain status %d', async (_, status) => {
    const client = clientOf(async () => Promise.resolve(status));

    const [result] = await results(new AgentCheck(() => client), 1);

    expect(result?.code).toBe('AgentCheckInconclusive');
  });

  test('if there is no response in time', async () => {
    const clock = new ManualClock();
    const client = clientOf(async (_, { signal } = {}) => {
      const { promise, reject } = Promise.withResolvers<number>();
      signal?.addEventListener('abort', () => reject(new KubeError('Aborted', 'too late')));
      clock.advance(5_000);
      return promise;
    });

    const result = await new AgentCheck(() => client).complete(SERVER, { ...LIMITS, clock });

    expect(result).toMatchObject({ state: 'Skip', code: 'AgentCheckInconclusive' });
    expect(result.message).toEndWith('unknown: no response within 5 s.');
  });
});

test('the result stays the same while nodes fail in turn, each with another error', async () => {
  await using server = await tenantWith({ a: 'True', b: 'True', c: 'True' });
  server.inject(
    { kind: 'error', status: 500, reason: 'Other' },
    { plural: healthz('a') },
    Infinity,
  );
  cutOff(server, 'b');
  server.inject({ kind: 'error', status: 504, reason: 'Slow' }, { plural: healthz('c') }, Infinity);
  const client = server.client();

  const [first, second, ...others] = await results(new AgentCheck(() => client), 7);

  expect([first?.code, second?.code]).toEqual(['AgentCheckInconclusive', 'KonnectivityNoAgent']);
  expect(others).toEqual(Array.from({ length: 5 }, () => second!));
});

test('a result for another host does not repeat the previous one', async () => {
  await using server = await tenantWith({ a: 'True' });
  cutOff(server, 'a');
  const client = server.client();
  const check = new AgentCheck(() => client);
  const moved = hopResult('konnectivity', 'Passed', 'b.konnectivity.test:443', 'TLS passes.');

  const before = await check.complete(SERVER, LIMITS);
  const after = await check.complete(moved, LIMITS);

  expect([before.target, after.target]).toEqual([SERVER.target, moved.target]);
});

test('a tenant without nodes has no agents, and passes', async () => {
  await using server = await tenantWith({});
  const client = server.client();
  const check = new AgentCheck(() => client);

  const [none] = await results(check, 1);
  server.seed({ apiVersion: 'v1', kind: RESOURCES.node.kind, metadata: { name: 'a' } });
  const [one] = await results(check, 1);

  expect(none).toMatchObject({ state: 'Pass', code: 'NoNodes' });
  expect(one?.code).toBe('Passed');
});

/** A client of a tenant with one node. */
function clientOf(kubeletStatus: KubeClient['kubeletStatus']): AgentClient {
  const items = [{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } }];
  const list = async () => Promise.resolve({ items, resourceVersion: '1' });
  return { list: list as unknown as KubeClient['list'], kubeletStatus };
}
