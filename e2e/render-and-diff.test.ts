/**
 * `snicket diff` and `snicket render` on real API servers, which set defaults and normalize values. After a reconcile,
 * diff reports no change; a change by a user is reported.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { terminalProgress } from '../world/parts/progress.ts';
import { repository } from '../world/repository.ts';
import { waitFor } from '../world/wait.ts';
import { World, type NetworkHost } from '../world/world.ts';
import {
  untilReachable,
  exposureOf,
  installSnicket,
  pointToEdge,
  snicketEdge,
  SYSTEM_NAMESPACE,
} from './installed-snicket.ts';

let world: World;
let laptop: NetworkHost;

beforeAll(async () => {
  const progress = terminalProgress();
  world = await World.start({ tenants: { a: {} } }, { progress });
  laptop = await world.addHost('laptop');
  await installSnicket(world, progress);
  await world.management.apply(snicketEdge());
  pointToEdge(world, world.tenant('a'));
});

afterAll(async () => world?.stop());

/** Runs snicket on a machine outside both clusters, from which Services are unreachable. */
async function snicket(...args: readonly string[]): Promise<{ exitCode: number; text: string }> {
  const kubeconfig = `--kubeconfig=${world.management.controlPlane.kubeconfig}`;
  const script = '"$@" 2>&1; echo "exit code $?"';
  const command = [join(repository, 'snicket'), ...args, kubeconfig];
  const { stdout } = await laptop.host.exec(['sh', '-c', script, 'sh', ...command]);
  const [, text = '', code] = /^([^]*)exit code (\d+)\n$/.exec(stdout) ?? [];
  return { exitCode: Number(code), text };
}

/** Waits for the end of its last pod, because a terminating operator still repairs objects. */
async function stopOperator(): Promise<void> {
  const kubectl = async (...args: readonly string[]) =>
    world.management.kubectl(`--namespace=${SYSTEM_NAMESPACE}`, ...args);
  await kubectl('scale', 'deployment/snicket-operator', '--replicas=0');
  const pods = ['pods', '--selector=app.kubernetes.io/name=snicket-operator', '--output=name'];
  const isGone = async () => (await kubectl('get', ...pods)) === '';
  await waitFor('the operator is gone', isGone, { deadlineMs: 100_000 });
}

describe.each(['Passthrough', 'Terminate'])('mode %s', (mode) => {
  test.each(['Virtual', 'Node'])('reports no differences with address %s', async (address) => {
    const worker = { mode, address, directInjection: true };
    await world.management.apply(exposureOf(world.tenant('a'), worker));
    await untilReachable(world, world.tenant('a'));

    expect(await snicket('diff', '-A')).toEqual({ exitCode: 0, text: '' });
  });
});

test('changes made while the operator is stopped are reported, and the desired objects are rendered', async () => {
  const { management } = world;
  await stopOperator();
  const tenant = world.tenant('a');
  await tenant.kubectl(
    ...['label', '--namespace=kube-system', 'daemonset/snicket-proxy', '--overwrite'],
    'app.kubernetes.io/name=other',
  );
  await tenant.kubectl('delete', '--namespace=kube-system', 'configmap/snicket-proxy');
  await management.apply(exposureOf(tenant, { mode: 'Terminate', address: 'Virtual' }));

  const { exitCode, text } = await snicket('diff', '-A');

  expect(exitCode).toBe(1);
  expect(text).toContain('  + tenant     ConfigMap kube-system/snicket-proxy\n');
  expect(text).toContain(
    '      ~ metadata.labels.app.kubernetes.io/name: other -> snicket-proxy\n',
  );
  expect(text).toMatch(/^ {2}- tenant {5}MutatingAdmissionPolicy /m);
  // The first of two steps: nodes get the address, and the proxies keep the address that pods use now.
  expect(text).toMatch(/^ {6}~ spec\..*\.initContainers\[0\]\.args\[1\]: remove -> add$/m);
  expect(text).not.toContain('--listen');
  const rendered = await snicket('render', '-A');
  expect(rendered.exitCode).toBe(0);
  expect(rendered.text).toContain('# tenant cluster: ConfigMap kube-system/snicket-proxy\n');
});
