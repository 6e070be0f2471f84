/**
 * `snicket run` on a separate machine without a management cluster: a folder of files, two real control planes with
 * fixed endpoints, and pods that reach their own API server.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import type { Exposure } from '../src/api/exposure.ts';
import type { Cluster } from '../world/cluster/cluster.ts';
import type { Pod } from '../world/cluster/pod.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { repository } from '../world/repository.ts';
import { API_PORT, KONNECTIVITY_PORT } from '../world/spec.ts';
import { waitFor } from '../world/wait.ts';
import { World, type NetworkHost } from '../world/world.ts';
import { restartAgents, pointToEdge } from './installed-snicket.ts';
import { snicketImage } from './snicket-image.ts';
import { homeNamespace, createHomeNamespace, namespacesSeenBy } from './namespaces.ts';
import { expectClientCertificate, expectOwnApiServer } from './shared-checks.ts';

const SNICKET = [process.execPath, join(repository, 'src', 'main.ts')] as const;
const TENANTS = ['a', 'b'] as const;

let world: World;
let edge: NetworkHost;
let laptop: NetworkHost;
let folder: string;
const pods = new Map<string, Pod>();

beforeAll(async () => {
  const progress = terminalProgress();
  const tenants = { a: { proxyMode: 'nftables' }, b: { proxyMode: 'iptables' } } as const;
  world = await World.start({ tenants }, { progress });
  await world.importImage(await snicketImage(progress));
  edge = await world.addHost('edge');
  laptop = await world.addHost('laptop');
  folder = join(edge.host.folder, 'files', 'snicket');
  write('edge.yaml', edgeObject());
  for (const name of TENANTS) {
    const tenant = world.tenant(name);
    pointToEdge(world, tenant, edge.address);
    await createHomeNamespace(tenant);
    writeTenant(tenant);
  }
  await edge.host.start('snicket', [
    ...[...SNICKET, 'run', folder, '--state', stateFolder()],
    // The port of the Edge, and the ports that the workers of a world dial.
    ...[443, API_PORT, KONNECTIVITY_PORT].flatMap((port) => [
      '--listen',
      `${edge.address}:${port}`,
    ]),
    ...['--http', `${edge.address}:9440`, '--cleanup-timeout', '60s', '--probe-interval', '5s'],
  ]);
  for (const name of TENANTS) pods.set(name, await world.tenant(name).runPod());
});

afterAll(async () => world?.stop());

test('every Exposure becomes Ready, and snicket status shows it', async () => {
  await waitFor(
    'both are Ready and reachable',
    () =>
      TENANTS.every((name) =>
        ['Ready', 'Reachable'].every((type) => conditionOf(name, type)?.status === 'True'),
      ),
    { deadlineMs: 120_000, everyMs: 250 },
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${readFileSync(statusFile(), 'utf8')}`);
  });

  // The command exits with 0 only if all conditions are met.
  const { stdout } = await edge.host.exec([...SNICKET, 'status', '-A', '--state', stateFolder()]);
  for (const name of TENANTS) expect(stdout).toContain(`default/${name}`);
});

test.each(TENANTS)('pods of tenant %s reach only their own API server', async (name) => {
  await expectOwnApiServer(world, name, [podOf(name)]);
});

test.each(TENANTS)(
  'kubectl is authenticated by its client certificate in tenant %s',
  async (name) => {
    await expectClientCertificate(laptop, world.tenant(name));
  },
);

test('logs and exec use the konnectivity host of the folder', async () => {
  await restartAgents(world.tenant('a'));

  expect(await podOf('a').exec('echo', 'through the tunnel')).toBe('through the tunnel\n');
});

test('removing the files of a tenant cleans up that tenant only', async () => {
  const removed = world.tenant('b');

  rmSync(join(folder, 'b'), { recursive: true });
  await waitFor(
    'Snicket is removed from the tenant',
    async () => (await removed.get('daemonset', 'snicket-proxy', 'kube-system')) === undefined,
    { deadlineMs: 120_000 },
  );

  await waitFor('the Exposure is gone', () => exposureOf('b') === undefined, {
    deadlineMs: 60_000,
  });
  const addresses = await removed.worker().exec('ip', 'address', 'show', 'dev', 'lo');
  expect(addresses).not.toContain('100.64.64.1');
  expect(await namespacesSeenBy(podOf('a'))).toContain(homeNamespace(world.tenant('a')));
});

function write(file: string, ...objects: readonly object[]): void {
  mkdirSync(join(folder, file, '..'), { recursive: true });
  writeFileSync(join(folder, file), objects.map((object) => stringify(object)).join('---\n'));
}

function edgeObject(): object {
  return {
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Edge',
    metadata: { name: 'shared', annotations: { 'snicket.dev/is-default': 'true' } },
    spec: { driver: 'snicket', addresses: [edge.address] },
  };
}

/** Writes the files of a tenant, and the objects that refer to them. */
function writeTenant({ name, controlPlane, plan }: Cluster): void {
  const { api, konnectivity } = plan.hosts;
  const { address } = controlPlane.plan;
  const secret = (suffix: string, files: object) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `${name}-${suffix}` },
    files,
  });
  write(
    `${name}/tenant.yaml`,
    {
      apiVersion: 'snicket.dev/v1alpha1',
      kind: 'Exposure',
      metadata: { name },
      spec: {
        controlPlane: {
          type: 'Endpoints',
          endpoints: {
            api: [`${address}:${API_PORT}`],
            konnectivity: [`${address}:${KONNECTIVITY_PORT}`],
          },
          caSecretRef: { name: `${name}-ca` },
          kubeconfigSecretRef: { name: `${name}-admin` },
        },
        hosts: { api, konnectivity },
      },
    },
    secret('ca', { 'tls.crt': 'ca.crt' }),
    secret('admin', { 'admin.conf': 'admin.conf' }),
  );
  const kubeconfig = controlPlane.kubeconfigFor(`https://${address}:${API_PORT}`);
  writeFileSync(join(folder, name, 'ca.crt'), controlPlane.authority.certificate);
  writeFileSync(join(folder, name, 'admin.conf'), kubeconfig, { mode: 0o600 });
}

function stateFolder(): string {
  return join(edge.host.folder, 'files', 'state');
}

function statusFile(): string {
  return join(stateFolder(), 'status.yaml');
}

function exposureOf(name: string): Exposure | undefined {
  if (!existsSync(statusFile())) return undefined;
  const { items } = parse(readFileSync(statusFile(), 'utf8')) as { readonly items: Exposure[] };
  return items.find(({ kind, metadata }) => kind === 'Exposure' && metadata.name === name);
}

function conditionOf(name: string, type: string): { readonly status: string } | undefined {
  return exposureOf(name)?.status?.conditions?.find((candidate) => candidate.type === type);
}

function podOf(name: string): Pod {
  const pod = pods.get(name);
  if (pod === undefined) throw new Error(`no pod in tenant ${name}`);
  return pod;
}
