import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { RESOURCES } from '../../kube/resource.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { OperatorLab } from '../testing/operator-lab.ts';

setDefaultTimeout(240_000);

test('a stuck rollout of proxies is reported until it makes progress', async () => {
  await using lab = await OperatorLab.start({ stuckAfterMs: 300 });
  const { controllers, user } = await lab.addTenant('blue');
  await controllers.addNode('worker-1', ['10.0.0.1']);
  await lab.expose('blue');
  await lab.untilCondition('blue', 'WorkersReady', /^True ProxiesReady/);
  controllers.pause();

  await lab.expose('blue', { worker: { image: 'snicket.test/none:2' } });
  await lab.untilCondition('blue', 'WorkersReady', /^False ProxiesNotObserved/);
  const status = { observedGeneration: 2, updatedNumberScheduled: 0 };
  await user.patch(RESOURCES.daemonSet, PROXY, 'merge', { status }, { subresource: 'status' });

  const condition = await lab.untilCondition('blue', 'WorkersReady', /^False ProxiesStuck/);
  expect(condition).toContain(
    'False ProxiesStuck: 1 of 1 proxies are ready, and 0 of them are up to date (image snicket.test/none:2).',
  );
  expect(condition).toContain('can pull snicket.test/none:2');

  controllers.resume();

  await lab.untilCondition('blue', 'WorkersReady', /^True ProxiesReady/);
});

describe.concurrent('proxies that run on no node', () => {
  test('are reported if there are nodes', async () => {
    await using lab = await OperatorLab.start({ resyncMs: 1_000 });
    const { controllers } = await lab.addTenant('blue');
    for (const name of ['worker-1', 'worker-2']) await controllers.addNode(name, ['10.0.0.1']);

    await lab.expose('blue', {
      worker: { nodeSelector: { 'kubernetes.io/hostname': 'worker-l' } },
    });

    const condition = await lab.untilCondition('blue', 'WorkersReady', /^False NoNodeSelected/);
    expect(condition).toContain(
      'False NoNodeSelected: None of the 2 nodes matches the node selector kubernetes.io/os=linux,kubernetes.io/hostname=worker-l.',
    );
    expect(condition).toContain('kubernetes.io/hostname=worker-l');
    expect(condition).toContain('spec.worker.nodeSelector');

    await lab.expose('blue', {
      worker: { nodeSelector: { 'kubernetes.io/hostname': 'worker-1' } },
    });

    await lab.untilCondition('blue', 'WorkersReady', /^True ProxiesReady: 1 of 1/);
  });

  test('are ready if there are no nodes yet', async () => {
    await using lab = await OperatorLab.start({ resyncMs: 1_000 });
    const { controllers } = await lab.addExposed('blue');
    expect(lab.condition('blue', 'WorkersReady')).toStartWith('True NoNodes');

    await controllers.addNode('worker-1', ['10.0.0.1']);

    await lab.untilCondition('blue', 'WorkersReady', /^True ProxiesReady: 1 of 1/);
  });
});
