import { expect, test } from 'bun:test';
import {
  judgeProxies,
  type ContainerStatus,
  type ProxyDaemonSet,
  type ProxyPod,
} from './proxies.ts';

const IMAGE = 'registry.example.com/snicket:1.2';

function daemonSet(status: ProxyDaemonSet['status'], generation = 1): ProxyDaemonSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { namespace: 'kube-system', name: 'snicket-proxy', generation },
    ...(status !== undefined && { status: { observedGeneration: 1, ...status } }),
  };
}

function pod(name: string, since: string, ...containers: readonly ContainerStatus[]): ProxyPod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'kube-system', name, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { nodeName: `node-of-${name}` },
    status: {
      conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: since }],
      containerStatuses: containers,
    },
  };
}

function waiting(reason: string): ContainerStatus {
  return { name: 'proxy', image: IMAGE, state: { waiting: { reason } } };
}

const ONE_OF_TWO = { desiredNumberScheduled: 2, numberReady: 1, updatedNumberScheduled: 2 };

test('ready proxies with the desired image pass', () => {
  const status = { desiredNumberScheduled: 2, numberReady: 2, updatedNumberScheduled: 2 };

  const result = judgeProxies({ daemonSet: daemonSet(status), image: IMAGE });

  expect(result).toEqual({
    name: 'proxies',
    target: 'DaemonSet kube-system/snicket-proxy',
    state: 'Pass',
    code: 'ProxiesReady',
    message: `2 of 2 proxies are ready with image ${IMAGE}.`,
  });
});

test('a tenant without workers passes', () => {
  const result = judgeProxies({
    daemonSet: daemonSet({ desiredNumberScheduled: 0 }),
    image: IMAGE,
  });

  expect(result).toMatchObject({ state: 'Pass', code: 'NoNodes' });
});

test('a tenant whose workers do not match the node selector fails', () => {
  const spec = {
    template: { spec: { nodeSelector: { 'kubernetes.io/os': 'linux', gpu: 'yes' } } },
  };

  const result = judgeProxies({
    daemonSet: { ...daemonSet({ desiredNumberScheduled: 0 }), spec },
    image: IMAGE,
    nodes: 3,
  });

  expect(result).toMatchObject({
    state: 'Fail',
    code: 'NoNodeSelected',
    message: 'None of the 3 nodes matches the node selector kubernetes.io/os=linux,gpu=yes.',
  });
});

test('a rollout that is stuck at the previous version fails', () => {
  const status = { desiredNumberScheduled: 3, numberReady: 3, updatedNumberScheduled: 1 };

  const result = judgeProxies({ daemonSet: daemonSet(status), image: IMAGE, isStuck: true });

  expect(result).toMatchObject({ state: 'Fail', code: 'ProxiesStuck' });
  expect(result.action).toContain(`can pull ${IMAGE}`);
});

test('warns while some proxies have the previous version', () => {
  const status = { desiredNumberScheduled: 3, numberReady: 3, updatedNumberScheduled: 1 };

  const result = judgeProxies({ daemonSet: daemonSet(status), image: IMAGE });

  expect(result).toMatchObject({ state: 'Pass', code: 'ProxiesUpdating' });
  expect(result.message).toBe(
    `3 of 3 proxies are ready, and 1 of them are up to date (image ${IMAGE}).`,
  );
  expect(result.action).toContain(`Wait for the rollout of ${IMAGE}`);
});

test('warns while proxies have previous addresses', () => {
  const status = { desiredNumberScheduled: 2, numberReady: 2, updatedNumberScheduled: 2 };

  const result = judgeProxies({
    daemonSet: daemonSet(status),
    image: IMAGE,
    hasOldAddresses: true,
  });

  expect(result).toMatchObject({ state: 'Pass', code: 'ProxiesUpdating' });
  expect(result.message).toStartWith(
    '2 of 2 proxies are ready, but they still have previous addresses besides the desired ones.',
  );
});

test('distinguishes a stuck rollout from one in progress if pods are known', () => {
  const status = { desiredNumberScheduled: 2, numberReady: 2, updatedNumberScheduled: 0 };
  const facts = {
    daemonSet: daemonSet(status),
    image: IMAGE,
    pods: [pod('a', '2026-01-01T00:00:00Z', waiting('ImagePullBackOff'))],
  };

  const looked = judgeProxies(facts);
  const watched = judgeProxies({ ...facts, isStuck: false });

  expect(looked).toMatchObject({ state: 'Fail', code: 'ProxyImageMissing' });
  expect(watched).toMatchObject({ state: 'Pass', code: 'ProxiesUpdating' });
});

test('a missing DaemonSet fails', () => {
  const result = judgeProxies({ daemonSet: undefined, image: IMAGE });

  expect(result).toMatchObject({ state: 'Fail', code: 'NotReconciled' });
});

test.each<[string, ProxyDaemonSet]>([
  ['an outdated status', daemonSet({ desiredNumberScheduled: 1, numberReady: 1 }, 2)],
  ['no status', daemonSet(undefined)],
])('a DaemonSet with %s was not observed by its controller', (_, seen) => {
  const result = judgeProxies({ daemonSet: seen, image: IMAGE });

  expect(result).toMatchObject({ state: 'Fail', code: 'ProxiesNotObserved' });
  expect(result.message).toStartWith('DaemonSet kube-system/snicket-proxy has generation');
});

test('names the pod that has been unready for longest', () => {
  const pods = [
    pod('young', '2026-11-16T10:00:00Z'),
    pod('old', '2026-11-15T10:00:00Z'),
    pod('middle', '2026-11-16T09:00:00Z'),
  ];

  const result = judgeProxies({ daemonSet: daemonSet(ONE_OF_TWO), pods, image: IMAGE });

  expect(result).toMatchObject({ state: 'Fail', code: 'ProxiesNotReady' });
  expect(result.message).toBe(
    '1 of 2 proxies are ready. Pod kube-system/old on node node-of-old has not been ready since 2026-11-15T10:00:00Z.',
  );
});

test('a pod without conditions has been unready since its creation', () => {
  const { status: _, ...podWithoutStatus } = pod('new', '');
  const pods = [pod('young', '2026-11-16T10:00:00Z'), podWithoutStatus];

  const { message } = judgeProxies({ daemonSet: daemonSet(ONE_OF_TWO), pods, image: IMAGE });

  expect(message).toContain(
    'Pod kube-system/new on node node-of-new has not been ready since 2026-01-01T00:00:00Z.',
  );
});

test('reports the numbers if the pods are unknown', () => {
  const result = judgeProxies({ daemonSet: daemonSet(ONE_OF_TWO), image: IMAGE });

  expect(result.message).toBe('1 of 2 proxies are ready');
  expect(result.action).toContain('the pods of DaemonSet kube-system/snicket-proxy');
});

test.each(['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName'])(
  'names the image that cannot be pulled: %s',
  (reason) => {
    const pods = [
      pod('old', '2026-11-15T10:00:00Z'),
      pod('hungry', '2026-11-16T10:00:00Z', waiting(reason)),
    ];

    const result = judgeProxies({ daemonSet: daemonSet(ONE_OF_TWO), pods, image: IMAGE });

    expect(result).toMatchObject({ state: 'Fail', code: 'ProxyImageMissing' });
    expect(result.message).toBe(
      `1 of 2 proxies are ready. Pod kube-system/hungry on node node-of-hungry cannot pull ${IMAGE} (${reason}).`,
    );
    expect(result.action).toBe(
      `Push ${IMAGE} to a registry that workers can reach, or set another image in the Exposure.`,
    );
  },
);

test('names the container that keeps crashing, including init containers', () => {
  const first: ContainerStatus = { ...waiting('CrashLoopBackOff'), name: 'address' };
  const crashing = pod('sad', '2026-11-16T10:00:00Z', waiting('PodInitializing'));
  const pods = [{ ...crashing, status: { ...crashing.status, initContainerStatuses: [first] } }];

  const result = judgeProxies({ daemonSet: daemonSet(ONE_OF_TWO), pods, image: IMAGE });

  expect(result).toMatchObject({ state: 'Fail', code: 'ProxyCrashing' });
  expect(result.message).toContain(
    'Container address of pod kube-system/sad on node node-of-sad keeps crashing.',
  );
  expect(result.action).toBe('Check the previous log of pod kube-system/sad on node node-of-sad.');
});
