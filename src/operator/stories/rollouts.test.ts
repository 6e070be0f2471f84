import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { APPLIED_ANNOTATION } from '../../kube/apply/needs-apply.ts';
import { RESOURCES } from '../../kube/resource.ts';
import type { DaemonSet } from '../../tenant/pod.ts';
import { PROXY, PROXY_CONFIG } from '../../tenant/proxy-names.ts';
import { LAB_EDGES } from '../testing/edges.ts';
import type { LabTenant } from '../testing/lab-tenant.ts';
import { ALL_KINDS, OperatorLab } from '../testing/operator-lab.ts';
import { TENANTS } from '../testing/namespaces.ts';

setDefaultTimeout(240_000);

const OLD = 'snicket.test/snicket:1';
const NEW = 'snicket.test/snicket:2';
const FIXED = 'snicket.test/snicket:3';

function imageOf({ server }: LabTenant): string | undefined {
  const set = server.read(RESOURCES.daemonSet, PROXY) as unknown as DaemonSet | undefined;
  return set?.spec.template.spec.containers[0]?.image;
}

/** Returns the flag `--mode` of the proxies. */
function modeOf({ server }: LabTenant): string | undefined {
  const set = server.read(RESOURCES.daemonSet, PROXY) as unknown as DaemonSet | undefined;
  const { args = [] } = set?.spec.template.spec.containers[0] ?? {};
  return args.find((arg) => arg.startsWith('--mode='));
}

/** Returns the data of the Secret and the ConfigMap that the proxies mount. */
function proxyFiles({ server }: LabTenant): readonly unknown[] {
  return [server.read(RESOURCES.secret, PROXY), server.read(RESOURCES.configMap, PROXY_CONFIG)].map(
    (object) => (object as { readonly data?: unknown } | undefined)?.data,
  );
}

function countOf(tenants: readonly LabTenant[], image: string): number {
  return tenants.filter((tenant) => imageOf(tenant) === image).length;
}

/** Creates tenants with one worker each, rolls out the old image to all of them, and stops the operator. */
async function fleet(lab: OperatorLab, count: number): Promise<readonly LabTenant[]> {
  const tenants: LabTenant[] = [];
  for (let index = 0; index < count; index++) {
    const name = `t${index}`;
    const tenant = await lab.addTenant(name);
    await tenant.controllers.addNode('worker-1', ['10.0.0.1']);
    await lab.expose(name);
    tenants.push(tenant);
  }
  for (const { name } of tenants) {
    await lab.untilCondition(name, 'WorkersReady', /^True ProxiesReady/);
  }
  await lab.stopOperator();
  return tenants;
}

describe.concurrent('a new release', () => {
  test('rolls out to ten of 25 tenants at a time, and to all in the end', async () => {
    await using lab = await OperatorLab.start();
    const tenants = await fleet(lab, 25);
    for (const { controllers } of tenants) controllers.stallRollouts();

    lab.startOperator({ proxyImage: NEW });

    await lab.until('ten are active', () => lab.number('rollouts', 'phase="Active"') === 10);
    await lab.until('the others wait', () => lab.number('rollouts', 'phase="Pending"') === 15);
    expect(countOf(tenants, NEW)).toBe(10);
    const waiting = tenants.find((tenant) => imageOf(tenant) === OLD)!;
    const message = await lab.untilCondition(waiting.name, 'WorkersReady', /^True RolloutPending/);
    expect(message).toContain('waits for 10 other rollouts');
    expect(lab.condition(waiting.name, 'Ready')).toStartWith('True');

    for (const { controllers } of tenants) controllers.resumeRollouts();

    await lab.until('all have the new image', () => countOf(tenants, NEW) === 25);
    await lab.until('no rollout is active', () => lab.number('rollouts', 'phase="Active"') === 0);
    await lab.untilCondition(waiting.name, 'WorkersReady', /^True ProxiesReady/);
  });

  test('pauses when a tenant fails, reports it, and continues when the tenant is fixed', async () => {
    await using lab = await OperatorLab.start({ maxConcurrentRollouts: 2 });
    const tenants = await fleet(lab, 6);
    for (const { controllers } of tenants) controllers.stallRollouts();

    lab.startOperator({ proxyImage: NEW });

    await lab.until('rollouts are paused', () => lab.number('rollouts_paused') === 1);
    const failed = tenants.filter((tenant) => imageOf(tenant) === NEW);
    expect(failed).toHaveLength(2);
    const waiting = tenants.find((tenant) => imageOf(tenant) === OLD)!;
    const message = await lab.untilCondition(waiting.name, 'WorkersReady', /^True RolloutPaused/);
    expect(failed.some(({ name }) => message.includes(`Exposure tenants/${name} `))).toBe(true);
    for (const { name } of failed) {
      await lab.untilCondition(name, 'WorkersReady', /^False ProxiesStuck/);
    }
    for (const { controllers } of tenants) controllers.resumeRollouts();
    await lab.until('all have the new image', () => countOf(tenants, NEW) === 6);
    expect(lab.number('rollouts_paused')).toBe(0);
  });

  test('continues an hour after a tenant failed, while that tenant still reports its failure', async () => {
    await using lab = await OperatorLab.start({ maxConcurrentRollouts: 1 });
    const tenants = await fleet(lab, 3);
    for (const { controllers } of tenants) controllers.stallRollouts();
    lab.startOperator({ proxyImage: NEW });
    await lab.until('rollouts are paused', () => lab.number('rollouts_paused') === 1);
    const failed = tenants.find((tenant) => imageOf(tenant) === NEW)!;
    const others = tenants.filter((tenant) => tenant !== failed);
    for (const { controllers } of others) controllers.resumeRollouts();

    await lab.environment.pass(50 * 60_000);
    expect(countOf(others, NEW)).toBe(0);
    expect(lab.number('rollouts_paused')).toBe(1);
    await lab.until('the others have the new image', () => countOf(others, NEW) === 2);

    expect(lab.number('rollouts_paused')).toBe(0);
    expect(lab.condition(failed.name, 'WorkersReady')).toStartWith('False ProxiesStuck');
  });

  test('is replaced by the next release, although tenants failed to roll out', async () => {
    await using lab = await OperatorLab.start({ maxConcurrentRollouts: 2 });
    const tenants = await fleet(lab, 4);
    for (const { controllers } of tenants) controllers.stallRollouts();
    lab.startOperator({ proxyImage: NEW });
    await lab.until('rollouts are paused', () => lab.number('rollouts_paused') === 1);
    await lab.stopOperator();
    for (const { controllers } of tenants) controllers.resumeRollouts();

    lab.startOperator({ proxyImage: FIXED });

    await lab.until('all have the fixed image', () => countOf(tenants, FIXED) === 4);
  });

  test('continues under the next leader, within the limit of concurrent rollouts', async () => {
    await using lab = await OperatorLab.start({ maxConcurrentRollouts: 2 });
    const tenants = await fleet(lab, 6);
    for (const { controllers } of tenants) controllers.stallRollouts();
    lab.startOperator({ proxyImage: NEW });
    await lab.until('two are active', () => lab.number('rollouts', 'phase="Active"') === 2);
    await lab.stopOperator();

    lab.startOperator({ proxyImage: NEW, identity: 'another' });

    await lab.until('the others wait', () => lab.number('rollouts', 'phase="Pending"') === 4);
    await lab.until('two are active', () => lab.number('rollouts', 'phase="Active"') === 2);
    expect(countOf(tenants, NEW)).toBe(2);
  });

  test('does not pause for a tenant that was broken before', async () => {
    await using lab = await OperatorLab.start({ maxConcurrentRollouts: 1 });
    const tenants = await fleet(lab, 3);
    const [broken] = tenants;
    broken!.controllers.setReady('worker-1', false);
    broken!.controllers.stallRollouts();

    lab.startOperator({ proxyImage: NEW });

    await lab.until('all have the new image', () => countOf(tenants, NEW) === 3);
    expect(lab.number('rollouts_paused')).toBe(0);
  });

  test.each([
    {
      failure: 'loses its kubeconfig',
      change: async (lab: OperatorLab, name: string) =>
        lab.user.delete(RESOURCES.secret, { name: `${name}-kubeconfig`, namespace: TENANTS }),
    },
    {
      failure: 'has an invalid Exposure',
      change: async (lab: OperatorLab, name: string) =>
        lab.expose(name, { worker: { port: 7443, healthPort: 7443 } }),
    },
    {
      failure: 'has an Edge that does not exist',
      change: async (lab: OperatorLab, name: string) =>
        lab.expose(name, { edgeRef: { name: 'missing' } }),
    },
    {
      failure: 'has a DaemonSet of another owner',
      change: async (lab: OperatorLab, name: string) => {
        const { user } = lab.tenants.find((tenant) => tenant.name === name)!;
        const labels = { 'app.kubernetes.io/managed-by': 'another' };
        const annotations = { [APPLIED_ANNOTATION]: null };
        const patch = { metadata: { labels, annotations } };
        await user.patch(RESOURCES.daemonSet, PROXY, 'merge', patch);
      },
    },
  ])('continues after a failed tenant that $failure', async ({ change }) => {
    await using lab = await OperatorLab.start({ maxConcurrentRollouts: 1 });
    const tenants = await fleet(lab, 3);
    for (const { controllers } of tenants) controllers.stallRollouts();
    lab.startOperator({ proxyImage: NEW });
    await lab.until('rollouts are paused', () => lab.number('rollouts_paused') === 1);
    const failed = tenants.find((tenant) => imageOf(tenant) === NEW)!;
    const others = tenants.filter((tenant) => tenant !== failed);
    for (const { controllers } of others) controllers.resumeRollouts();

    const { clock } = lab.environment;
    const startMs = clock.nowMs();
    await change(lab, failed.name);

    await lab.until('the others have the new image', () => countOf(others, NEW) === 2);
    // The next full reconcile of the failed tenant, at the latest, lets the others continue.
    expect(clock.nowMs() - startMs).toBeLessThan(15 * 60_000);
    expect(lab.number('rollouts_paused')).toBe(0);
  });

  test('delays neither a new tenant nor a change of an Exposure', async () => {
    await using lab = await OperatorLab.start({ maxConcurrentRollouts: 1 });
    const tenants = await fleet(lab, 3);
    for (const { controllers } of tenants) controllers.stallRollouts();
    lab.startOperator({ proxyImage: NEW });
    await lab.until('rollouts are paused', () => lab.number('rollouts_paused') === 1);
    const changed = tenants.find((tenant) => imageOf(tenant) === OLD)!;

    await lab.expose(changed.name, { worker: { logLevel: 'debug' } });
    const added = await lab.addExposed('added');

    expect(imageOf(added)).toBe(NEW);
    await lab.until('the changed Exposure is rolled out', () => imageOf(changed) === NEW);
    expect(countOf(tenants, NEW)).toBe(2);
  });
});

describe.concurrent('a change of an Edge', () => {
  test('rolls out to one tenant at a time, and changes nothing for pending tenants', async () => {
    await using lab = await OperatorLab.start({ maxConcurrentRollouts: 1, resources: ALL_KINDS });
    lab.management.seed(...LAB_EDGES.haproxy.objects);
    const tenants = await fleet(lab, 3);
    lab.startOperator();
    for (const { controllers } of tenants) controllers.stallRollouts();
    const before = new Map(tenants.map((tenant) => [tenant, proxyFiles(tenant)]));

    // 1. The Edge gets another driver. Its proxies need another mode, and so other credentials.
    await lab.applyEdge({ ...LAB_EDGES.haproxy.spec, addresses: ['127.0.0.2'] });

    await lab.until('one rollout is active', () => lab.number('rollouts', 'phase="Active"') === 1);
    await lab.until('the others wait', () => lab.number('rollouts', 'phase="Pending"') === 2);
    const waiting = tenants.filter((tenant) => modeOf(tenant) === '--mode=passthrough');
    expect(waiting).toHaveLength(2);
    for (const tenant of waiting) {
      await lab.untilCondition(tenant.name, 'WorkersReady', /^True RolloutPending/);
      expect(proxyFiles(tenant)).toEqual(before.get(tenant)!);
      expect(lab.statusOf(tenant.name)?.certificate).toBeUndefined();
      const drivers = lab.routesOf(tenant.name).map(({ driver }) => driver);
      expect(new Set(drivers)).toEqual(new Set(['snicket', 'haproxy']));
    }

    // 2. A change of an Exposure does not wait.
    const [changed, last] = waiting;
    await lab.expose(changed!.name, { hosts: { api: `${changed!.name}.example.test` } });
    await lab.until(
      'the changed Exposure is rolled out',
      () => modeOf(changed!) === '--mode=terminate',
    );
    expect(modeOf(last!)).toBe('--mode=passthrough');

    // 3. The others follow.
    for (const { controllers } of tenants) controllers.resumeRollouts();
    await lab.until('all use the new driver', () =>
      tenants.every((tenant) => modeOf(tenant) === '--mode=terminate'),
    );
    expect(proxyFiles(last!)).not.toEqual(before.get(last!)!);
  });
});
