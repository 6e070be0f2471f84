import { describe, expect, test } from 'bun:test';
import { KubeError } from '../../kube/kube-error.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { KubeObject } from '../../kube/object.ts';
import { readOperator, type OperatorState } from './operator-state.ts';

const NOW = new Date('2026-11-16T12:00:00Z');
const FORBIDDEN = new KubeError('Forbidden', 'no');

function deployment(
  readyReplicas: number,
  args: readonly string[] = ['--leader-elect'],
): KubeObject {
  const spec = { replicas: 2, template: { spec: { containers: [{ args }] } } };
  const object = { spec, status: { readyReplicas }, metadata: { name: 'snicket-operator' } };
  return { apiVersion: 'apps/v1', kind: 'Deployment', ...object };
}

function lease(holderIdentity: string, renewTime: string, resourceVersion = '1'): KubeObject {
  const object = { spec: { holderIdentity, leaseDurationSeconds: 6, renewTime } };
  const metadata = { name: 'snicket-operator', namespace: 'here', resourceVersion };
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, ...object };
}

type Answer = KubeObject | KubeError | undefined;

/** Returns the state for these answers. Each read of the Lease gets the next one; the last one repeats. */
async function stateOf(answers: {
  readonly deployment?: Answer;
  readonly leases?: readonly Answer[];
}): Promise<OperatorState> {
  const leases = [...(answers.leases ?? [])];
  const client = {
    get: async ({ kind }: { readonly kind: string }) => {
      const nextLease = () => (leases.length > 1 ? leases.shift() : leases[0]);
      const answer = kind === 'Lease' ? nextLease() : answers.deployment;
      return answer instanceof KubeError ? Promise.reject(answer) : Promise.resolve(answer);
    },
  } as Pick<KubeClient, 'get'>;
  const { signal } = new AbortController();
  const pause = async () => Promise.resolve();
  return readOperator(client, { namespace: 'here', signal, now: () => NOW, pause });
}

const FRESH = lease('pod-1', '2026-11-16T11:59:58.000000Z');
const OLD = lease('pod-1', '2026-11-16T11:00:00.000000Z');

describe('the operator is running', () => {
  test('if it renews its Lease', async () => {
    expect(await stateOf({ deployment: deployment(1), leases: [FRESH] })).toEqual({
      state: 'running',
      message: 'pod-1 leads, 1 of 2 replicas are ready',
    });
  });

  test('if its clock is an hour behind and the Lease changes', async () => {
    const later = lease('pod-1', '2026-11-16T11:00:02.000000Z', '2');

    expect(await stateOf({ leases: [OLD, later] })).toEqual({
      state: 'running',
      message: 'pod-1 leads',
    });
  });

  test('if reading its Deployment is forbidden', async () => {
    expect(await stateOf({ deployment: FORBIDDEN, leases: [FRESH] })).toMatchObject({
      state: 'running',
      message: 'pod-1 leads',
    });
  });

  test('if it has no leader election and a replica is ready', async () => {
    expect(await stateOf({ deployment: deployment(1, []) })).toMatchObject({ state: 'running' });
    expect(await stateOf({ deployment: deployment(2), leases: [FORBIDDEN] })).toMatchObject({
      state: 'running',
    });
  });
});

describe('the operator is down', () => {
  test('if there is no Deployment', async () => {
    expect(await stateOf({})).toMatchObject({
      state: 'down',
      message: 'not found in namespace here',
    });
  });

  test('if the Lease was not renewed', async () => {
    expect(await stateOf({ deployment: deployment(0), leases: [OLD] })).toEqual({
      state: 'down',
      message: 'no leader since 2026-11-16T11:00:00.000000Z',
      action:
        'check Deployment here/snicket-operator: kubectl -n here describe deployment snicket-operator',
    });
  });

  test('if the Lease was released', async () => {
    const given = lease('', '2026-11-16T11:59:58.000000Z');

    expect(await stateOf({ deployment: deployment(2), leases: [given] })).toMatchObject({
      state: 'down',
    });
  });

  test('if no replica is ready', async () => {
    expect(await stateOf({ deployment: deployment(0, []) })).toMatchObject({
      state: 'down',
      message: '0 of 2 replicas are ready',
    });
  });
});

test('names the missing permission', async () => {
  expect(await stateOf({ deployment: FORBIDDEN, leases: [FORBIDDEN] })).toEqual({
    state: 'unknown',
    message: 'no permission to read it',
    action: 'required: get of Deployment and Lease snicket-operator in namespace here',
  });
});

describe('the state of the operator is unknown', () => {
  test('without a Lease if reading the Deployment is forbidden', async () => {
    expect(await stateOf({ deployment: FORBIDDEN })).toMatchObject({
      state: 'unknown',
      message: 'no permission to read it',
    });
  });

  test('if the server does not answer the second read of the Lease', async () => {
    const cut = new KubeError('Unreachable', 'the connection was cut');

    for (const seen of [deployment(1), FORBIDDEN, undefined]) {
      expect(await stateOf({ deployment: seen, leases: [OLD, cut] })).toEqual({
        state: 'unknown',
        message: 'the connection was cut',
        action: 'try again',
      });
    }
    // Without leader election, the Deployment is enough.
    expect(await stateOf({ deployment: deployment(1, []), leases: [OLD, cut] })).toMatchObject({
      state: 'running',
    });
  });

  test('a Lease that is deleted between two reads has no holder', async () => {
    expect(await stateOf({ deployment: deployment(1), leases: [OLD, undefined] })).toMatchObject({
      state: 'down',
    });
  });
});
