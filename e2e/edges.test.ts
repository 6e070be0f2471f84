/** Real ingress controllers in front of tenants: each passes TLS through and routes by server name. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Cluster } from '../world/cluster/cluster.ts';
import { edgeNames, route, startEdge, type Edge } from '../world/edges/edge.ts';
import { traefikTlsRoute } from '../world/edges/traefik.ts';
import { program } from '../world/parts/parts.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { repository } from '../world/repository.ts';
import { API_PORT, KONNECTIVITY_PORT } from '../world/spec.ts';
import { waitFor } from '../world/wait.ts';
import { World, type NetworkHost } from '../world/world.ts';
import type { Answer } from './tls-probe.ts';

/** How long a route change may take. Measured in this test: 0.3 to 2 s. A busy machine may need much longer. */
const SOON = { deadlineMs: 120_000 };

/** An address that only the client has. A connection to it came through the client's agent. */
const CLIENT_ONLY = '100.64.64.2';

const UNKNOWN = 'unknown.k8s.snicket.test';

let world: World;
let client: NetworkHost;
let a: Cluster;
let b: Cluster;

beforeAll(async () => {
  const noWorkers = { workers: 0 };
  world = await World.start(
    { management: noWorkers, tenants: { a: noWorkers, b: noWorkers } },
    { progress: terminalProgress() },
  );
  [a, b] = [world.tenant('a'), world.tenant('b')];
  client = await world.addHost('client');
  for (const tenant of [a, b]) {
    const { controlPlane, plan } = tenant;
    writeFileSync(file(`${plan.name}.crt`), controlPlane.authority.certificate);
    writeFileSync(
      file(`${plan.name}.kubeconfig`),
      controlPlane.kubeconfigFor(`https://${plan.hosts.api}:443`),
      { mode: 0o600 },
    );
    await tenant.kubectl('create', 'namespace', `only-in-${plan.name}`);
  }
  await startEcho();
});

afterAll(async () => world?.stop());

describe.each(edgeNames)('%s', (name) => {
  let edge: Edge;

  beforeAll(async () => {
    edge = await startEdge(world, name, terminalProgress());
    const { api, konnectivity } = a.plan.hosts;
    for (const host of [api, konnectivity, b.plan.hosts.api, UNKNOWN])
      world.dns.set(host, edge.address);
  });

  afterAll(async () => edge?.stop());

  test('rejects connections without a route', async () => {
    expect(await probeHost(a.plan.hosts.api)).toEqual({});
  });

  test('routes each name to its tenant soon after the route is created', async () => {
    await world.management.apply(apiRoute(edge, a), apiRoute(edge, b), konnectivityRoute(edge, a));

    for (const tenant of [a, b]) {
      const { api } = tenant.plan.hosts;
      const { authority, names } = await waitFor(
        `${api} is answered`,
        () => probeRouted(api),
        SOON,
      );

      expect(authority).toBe(tenant.name);
      expect(names).toContain(api);
    }
  });

  test('forwards kubectl only to the tenant that it names', async () => {
    const [seenInA, seenInB] = [await namespacesSeen('a'), await namespacesSeen('b')];

    expect(seenInA).toContain('namespace/only-in-a');
    expect(seenInA).not.toContain('namespace/only-in-b');
    expect(seenInB).toContain('namespace/only-in-b');
    expect(seenInB).not.toContain('namespace/only-in-a');
  });

  test('forwards the tunnel of a konnectivity agent on the same port', async () => {
    const { konnectivity } = a.plan.hosts;
    const found = await waitFor(
      `${konnectivity} is answered`,
      () => probeRouted(konnectivity),
      SOON,
    );
    const agent = await startAgent(name);
    await using _ = { [Symbol.asyncDispose]: async () => agent.kill() };

    const echo = await waitFor('the API server reaches the client', echoThroughTunnel, SOON);

    expect(found.names).toContain(konnectivity);
    expect(echo).toBe('from the client');
  });

  test('rejects an unknown name', async () => {
    expect(await probeHost(UNKNOWN)).toEqual({});
  });

  test('rejects a name once its route is deleted, and still routes the other name', async () => {
    await remove(apiRoute(edge, b));

    const isRejected = async () => {
      // No answer at all does not count as a rejection.
      const found = await probeHost(b.plan.hosts.api).catch(() => undefined);
      return found !== undefined && found.authority === undefined;
    };
    await waitFor(`${b.plan.hosts.api} is rejected`, isRejected, SOON);
    expect(await namespacesSeen('a')).toContain('namespace/only-in-a');
    await remove(apiRoute(edge, a), konnectivityRoute(edge, a));
  });

  if (name === 'traefik') {
    test('accepts a TLSRoute as well', async () => {
      const { api } = b.plan.hosts;
      await world.management.apply(traefikTlsRoute(apiTarget(b)));

      const { authority } = await waitFor(`${api} is answered`, () => probeRouted(api), SOON);

      expect(authority).toBe('b');
      await remove(traefikTlsRoute(apiTarget(b)));
    });
  }
});

function apiTarget({ name, plan }: Cluster) {
  return { host: plan.hosts.api, namespace: `tenant-${name}`, service: name, port: API_PORT };
}

function apiRoute(edge: Edge, tenant: Cluster): object {
  return route(edge, apiTarget(tenant));
}

function konnectivityRoute(edge: Edge, tenant: Cluster): object {
  const host = tenant.plan.hosts.konnectivity;
  return route(edge, { ...apiTarget(tenant), host, port: KONNECTIVITY_PORT });
}

async function remove(...objects: object[]): Promise<void> {
  const text = objects.map((object) => stringify(object)).join('\n---\n');
  await world.management.controlPlane.kubectl(['delete', '--filename', '-'], text);
}

/** Returns the path of a file of the client, which is the same for the test and for programs on the client. */
function file(name: string): string {
  return join(client.host.folder, 'files', name);
}

/** Resolves and dials a host name on the client, and returns the authority and the names of the certificate. */
async function probeHost(host: string): Promise<Answer> {
  const script = join(repository, 'e2e', 'tls-probe.ts');
  const authorities = ['a', 'b'].map((name) => `${name}=${file(`${name}.crt`)}`);
  const probe = [process.execPath, script, `${host}:443`, ...authorities];
  return JSON.parse((await client.host.exec(probe)).stdout) as Answer;
}

/** Like {@link probeHost}, but undefined if the edge does not answer or the certificate is not that of a tenant. */
async function probeRouted(host: string): Promise<Answer | undefined> {
  const found = await probeHost(host).catch(() => undefined);
  return found?.authority === undefined ? undefined : found;
}

/** Returns the namespaces that kubectl on the client lists with a tenant's kubeconfig. */
async function namespacesSeen(tenant: string): Promise<string[]> {
  const kubectl = [program('kubectl'), `--kubeconfig=${file(`${tenant}.kubeconfig`)}`];
  const cache = `--cache-dir=${file(`kubectl-cache-${tenant}`)}`;
  const list = [...kubectl, cache, '--request-timeout=60s', 'get', 'namespaces', '-o', 'name'];
  return (await client.host.exec(list)).stdout.trim().split('\n');
}

/**
 * Starts a server that only the client's own processes can reach, and creates a pod of tenant a with its address. The
 * test writes the pod's status, because the tenant has no nodes.
 */
async function startEcho(): Promise<void> {
  const { host } = client;
  await host.exec(['ip', 'address', 'add', `${CLIENT_ONLY}/32`, 'dev', 'lo', 'scope', 'host']);
  const serve = `Bun.serve({ hostname: '${CLIENT_ONLY}', port: 8080, fetch: () => new Response('from the client') })`;
  await host.start('echo', [process.execPath, '--eval', serve]);
  await a.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'echo', namespace: 'default' },
    spec: { containers: [{ name: 'echo', image: 'none' }] },
  });
  const status = { phase: 'Running', podIP: CLIENT_ONLY, podIPs: [{ ip: CLIENT_ONLY }] };
  const patch = ['--subresource=status', '--type=merge', '--patch', JSON.stringify({ status })];
  await a.kubectl('patch', 'pod', 'echo', ...patch);
}

/**
 * Returns the pod's response to the API server of tenant a through konnectivity. Undefined while the pod is
 * unreachable.
 */
async function echoThroughTunnel(): Promise<string | undefined> {
  const path = '/api/v1/namespaces/default/pods/http:echo:8080/proxy/';
  const response = await a.controlPlane.request('GET', path).catch(() => undefined);
  return response?.ok ? response.text() : undefined;
}

/** Starts a konnectivity agent of tenant a on the client. */
async function startAgent(name: string) {
  const account = ['konnectivity-agent', '--namespace=kube-system'];
  const audience = '--audience=system:konnectivity-server';
  writeFileSync(file('token'), await a.kubectl('create', 'token', ...account, audience));
  return client.host.start(`agent-${name}`, [
    program('proxy-agent'),
    `--ca-cert=${file('a.crt')}`,
    `--service-account-token-path=${file('token')}`,
    `--proxy-server-host=${a.plan.hosts.konnectivity}`,
    '--proxy-server-port=443',
    '--probe-interval=1s',
    '--sync-interval=1s',
  ]);
}
