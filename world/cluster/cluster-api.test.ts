/** Tests requests over TLS to an API server that is busy or briefly unavailable. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Host } from '../machine/host.ts';
import { planWorld } from '../spec.ts';
import { Cluster } from './cluster.ts';
import { ClusterApi } from './cluster-api.ts';
import { Authority } from './pki.ts';

const PATH = '/api/v1/nodes';
const NODES = { items: [{ metadata: { name: 'a-1' } }] };

let folder: string;
let server: Bun.Server<undefined>;
let cluster: Cluster<ClusterApi>;
/** Statuses that the server returns, in order, before it lists nodes. For kubectl, each entry is one failed run. */
let refusals: number[] = [];
let requests: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'snicket-cluster-api-'));
  const authority = await Authority.create('a-ca');
  const serving = await authority.issue({ commonName: 'kube-apiserver', names: ['localhost'] });
  server = Bun.serve({
    port: 0,
    tls: { cert: serving.certificate, key: serving.key },
    fetch: (request) => {
      requests.push(request.method);
      const status = refusals.shift();
      return status === undefined ? Response.json(NODES) : new Response('busy', { status });
    },
  });
  const exec = async () => {
    requests.push('kubectl');
    if (refusals.shift() !== undefined) throw new Error('TLS handshake timeout');
    return { stdout: '{"kind":"Node"}', stderr: '' };
  };
  const [plan] = planWorld({ tenants: { a: {} } }).tenants;
  const api = new ClusterApi(plan!, {
    authority,
    admin: await authority.issue({ commonName: 'admin', organization: 'system:masters' }),
    host: { folder, exec } as unknown as Host,
    server: 'https://192.0.2.1:6443',
    machineServer: `https://localhost:${server.port}`,
    kubeconfig: join(folder, 'kubeconfig'),
    machineKubeconfig: join(folder, 'machine-kubeconfig'),
    pauseMs: 1,
  });
  cluster = new Cluster(api, []);
});

beforeEach(() => {
  refusals = [];
  requests = [];
});

afterAll(async () => {
  await server?.stop(true);
  rmSync(folder, { recursive: true, force: true });
});

test('retries a list that a busy server rejects', async () => {
  refusals = [429, 500];

  const nodes = await cluster.list('nodes');

  expect(nodes).toEqual(NODES.items);
  expect(requests).toHaveLength(3);
});

test('retries an object that kubectl cannot read', async () => {
  refusals = [0, 0];

  const node = await cluster.get('node', 'a-1');

  expect(node).toEqual({ kind: 'Node' });
  expect(requests).toHaveLength(3);
});

test('does not retry kubectl commands that write or check a path', async () => {
  refusals = [0, 0];

  await expect(cluster.kubectl('delete', 'node', 'a-1')).rejects.toThrow('TLS handshake timeout');
  await expect(cluster.kubectl('get', '--raw', '/readyz')).rejects.toThrow('TLS handshake timeout');

  expect(requests).toHaveLength(2);
});

test('does not retry after a definitive rejection', async () => {
  refusals = [404];

  const { status } = await cluster.controlPlane.request('GET', PATH);

  expect(status).toBe(404);
  expect(requests).toEqual(['GET']);
});

test('does not retry writes', async () => {
  refusals = [500];

  const { status } = await cluster.controlPlane.request('POST', PATH, {});

  expect(status).toBe(500);
  expect(requests).toEqual(['POST']);
});

test('answers() sends one request, because its callers retry', async () => {
  refusals = [503];

  expect(await cluster.controlPlane.answers(PATH)).toBe(false);
  expect(requests).toEqual(['GET']);
});
