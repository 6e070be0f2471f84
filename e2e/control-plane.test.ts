/**
 * The complete setup as a user installs it: the manifests of deploy/, an Edge and two Exposures. The pods of two
 * tenants with the same addresses reach their own API server and never that of the other tenant.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pod } from '../world/cluster/pod.ts';
import { terminalProgress } from '../world/parts/progress.ts';
import { World, type NetworkHost } from '../world/world.ts';
import {
  restartAgents,
  untilReachable,
  exposureOf,
  installSnicket,
  pointToEdge,
  snicketEdge,
} from './installed-snicket.ts';
import { homeNamespace, createHomeNamespace } from './namespaces.ts';
import { expectClientCertificate, expectOwnApiServer } from './shared-checks.ts';

const TENANTS = ['a', 'b'] as const;

let world: World;
let laptop: NetworkHost;
const pods = new Map<string, { pod: Pod; hostPod: Pod }>();

beforeAll(async () => {
  const progress = terminalProgress();
  const tenants = { a: { proxyMode: 'nftables' }, b: { proxyMode: 'iptables' } } as const;
  world = await World.start({ tenants }, { progress });
  laptop = await world.addHost('laptop');
  await installSnicket(world, progress);
  await world.management.apply(snicketEdge());
  for (const name of TENANTS) {
    const tenant = world.tenant(name);
    pointToEdge(world, tenant);
    await createHomeNamespace(tenant);
    await world.management.apply(exposureOf(tenant));
    const [pod, hostPod] = await Promise.all([
      tenant.runPod(),
      tenant.runPod({ hostNetwork: true }),
    ]);
    pods.set(name, { pod, hostPod });
  }
});

afterAll(async () => world?.stop());

describe.each(['Passthrough', 'Terminate'])('mode %s', (mode) => {
  describe.each(['Virtual', 'Node'])('address %s', (address) => {
    test('every Exposure becomes Ready', async () => {
      for (const name of TENANTS) {
        await world.management.apply(exposureOf(world.tenant(name), { mode, address }));
      }

      for (const name of TENANTS) await untilReachable(world, world.tenant(name));
    });

    test.each(TENANTS)('pods of tenant %s reach only their own API server', async (name) => {
      const { pod, hostPod } = podsOf(name);
      await expectOwnApiServer(world, name, [pod, hostPod]);
    });

    const identity = mode === 'Passthrough' ? 'authenticated' : 'anonymous';
    test(`a pod with a client certificate is ${identity}`, async () => {
      const { pod } = podsOf('a');
      const path = join(laptop.host.folder, 'files', 'pod.kubeconfig');
      const subject = { commonName: 'bert-of-a', organization: 'host-processes' };
      await world.tenant('a').controlPlane.writeUser(path, subject, 'https://10.96.0.1');
      await pod.write('/tmp/kubeconfig', readFileSync(path, 'utf8'));

      const answer = await pod
        .exec('kubectl', '--kubeconfig=/tmp/kubeconfig', 'get', 'namespaces', '-o', 'name')
        .catch((error: unknown) => String(error));

      const known = homeNamespace(world.tenant('a'));
      expect(answer).toContain(mode === 'Passthrough' ? known : 'User "system:anonymous" cannot');
    });
  });
});

test.each(TENANTS)(
  'kubectl is authenticated by its client certificate in tenant %s, through the edge',
  async (name) => {
    await expectClientCertificate(laptop, world.tenant(name));
  },
);

test.each(TENANTS)(
  'kubectl logs and exec work in tenant %s, through agents that connect to the edge',
  async (name) => {
    const tenant = world.tenant(name);
    await restartAgents(tenant);
    const { pod } = podsOf(name);

    const printed = await pod.exec('echo', 'through the tunnel');

    expect(printed).toBe('through the tunnel\n');
    expect(await pod.logs()).toBe('');
  },
);

test('kubectl get exposures shows the status', async () => {
  for (const name of TENANTS) await untilReachable(world, world.tenant(name));

  const table = await world.management.kubectl('get', 'exposures', '--all-namespaces');

  const [head = '', ...rows] = table.trim().split('\n');
  expect(head.split(/\s+/)).toEqual([
    'NAMESPACE',
    'NAME',
    'ENDPOINT',
    'EDGE',
    'MODE',
    'PROXIES',
    'READY',
    'REACHABLE',
    'REASON',
    'AGE',
  ]);
  expect(rows).toHaveLength(2);
  for (const row of rows) expect(row).toMatch(/shared +Terminate +1\/1 +True +True +Ready/);
});

function podsOf(name: string): { pod: Pod; hostPod: Pod } {
  const found = pods.get(name);
  if (found === undefined) throw new Error(`no pods in tenant ${name}`);
  return found;
}
