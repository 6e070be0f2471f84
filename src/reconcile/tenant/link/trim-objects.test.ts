import { describe, expect, test } from 'bun:test';
import type { ProxyPod } from '../../../probe/hops/proxies.ts';
import type { DaemonSetWithStatus } from '../../../tenant/proxy-addresses.ts';
import { trimDaemonSet, trimPod } from './trim-objects.ts';

function daemonSet(status: object, rest: object = {}): DaemonSetWithStatus {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: {
      name: 'snicket-proxy',
      namespace: 'kube-system',
      uid: 'u',
      generation: 3,
      labels: { a: 'b' },
      annotations: { 'snicket.dev/applied': 'hash', theirs: 'x'.repeat(1000) },
      managedFields: [{ manager: 'somebody' }],
    },
    spec: { template: { spec: { containers: [{ name: 'proxy', args: ['proxy'] }] } } },
    status,
    ...rest,
  } as unknown as DaemonSetWithStatus;
}

describe('the trimmed DaemonSet of the proxies', () => {
  test('keeps only the fields that are planned or observed', () => {
    const trimmed = trimDaemonSet(
      daemonSet({ numberReady: 2, numberMisscheduled: 1, conditions: [] }),
    );

    expect(trimmed.metadata).toEqual({
      name: 'snicket-proxy',
      namespace: 'kube-system',
      uid: 'u',
      generation: 3,
      labels: { a: 'b' },
      annotations: { 'snicket.dev/applied': 'hash' },
    });
    expect(trimmed.status).toEqual({ numberReady: 2 });
  });

  test.each([[-1], [1.5], [2 ** 31], [1e300], [Number.NaN], ['2'], [null], [{}], [[1]]])(
    'rejects %p as a count',
    (numberReady) => {
      expect(() => trimDaemonSet(daemonSet({ numberReady }))).toThrow('status.numberReady is');
    },
  );

  test.each([{ spec: undefined }, { spec: { template: { spec: { containers: [null] } } } }])(
    'rejects a DaemonSet without valid containers: %j',
    (rest) => {
      expect(() => trimDaemonSet(daemonSet({}, rest))).toThrow(TypeError);
    },
  );
});

test('trimPod keeps only the node, the readiness and the containers', () => {
  const waiting = { reason: 'ErrImagePull', message: 'x'.repeat(1000) };
  const ready = { type: 'Ready', status: 'False', lastTransitionTime: '2026-01-01T00:00:00Z' };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', namespace: 'kube-system', labels: { a: 'b' } },
    spec: { nodeName: 'worker-1', containers: [{}] },
    status: {
      conditions: [ready, { type: 'Initialized', status: 'True' }],
      containerStatuses: [{ name: 'proxy', ready: false, image: 'i', state: { waiting } }],
    },
  } as unknown as ProxyPod;

  expect(trimPod(pod)).toEqual({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', namespace: 'kube-system' },
    spec: { nodeName: 'worker-1' },
    status: {
      conditions: [ready as never],
      containerStatuses: [
        { name: 'proxy', ready: false, image: 'i', state: { waiting: { reason: 'ErrImagePull' } } },
      ],
    },
  });
});
