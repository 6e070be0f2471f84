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

describe('an operator runs', () => {
  test('that renews its lease', async () => {
    expect(await stateOf({ deployment: deployment(1), leases: [FRESH] })).toEqual({
      state: 'running',
      message: 'pod-1 leads, 1 of 2 replicas are ready',
    });
  });

  test('whose clock is an hour behind ours, if the lease changes before our eyes', async () => {
    const later = lease('pod-1', '2026-11-16T11:00:02.000000Z', '2');

    expect(await stateOf({ leases: [OLD, later] })).toEqual({
      state: 'running',
      message: 'pod-1 leads',
    });
  });

  test('whose Deployment may not be seen', async () => {
    expect(await stateOf({ deployment: FORBIDDEN, leases: [FRESH] })).toMatchObject({
      state: 'running',
      message: 'pod-1 leads',
    });
  });

  test('alone, without a lease', async () => {
    expect(await stateOf({ deployment: deployment(1, []) })).toMatchObject({ state: 'running' });
    expect(await stateOf({ deployment: deployment(2), leases: [FORBIDDEN] })).toMatchObject({
      state: 'running',
    });
  });
});

describe('no operator runs', () => {
  test('where there is none', async () => {
    expect(await stateOf({})).toMatchObject({
      state: 'down',
      message: 'there is none in namespace here',
    });
  });

  test('where the Lease was not renewed', async () => {
    expect(await stateOf({ deployment: deployment(0), leases: [OLD] })).toEqual({
      state: 'down',
      message: 'no leader since 2026-11-16T11:00:00.000000Z',
      action:
        'see what Deployment here/snicket-operator says: kubectl -n here describe deployment snicket-operator',
    });
  });

  test('where it was given back', async () => {
    const given = lease('', '2026-11-16T11:59:58.000000Z');

    expect(await stateOf({ deployment: deployment(2), leases: [given] })).toMatchObject({
      state: 'down',
    });
  });

  test('where no replica is ready', async () => {
    expect(await stateOf({ deployment: deployment(0, []) })).toMatchObject({
      state: 'down',
      message: '0 of 2 replicas are ready',
    });
  });
});

test('names the missing permission', async () => {
  expect(await stateOf({ deployment: FORBIDDEN, leases: [FORBIDDEN] })).toEqual({
    state: 'unknown',
    message: 'you may not see it',
    action: 'to see it: get of Deployment and Lease snicket-operator in namespace here',
  });
});

describe('it is not known', () => {
  test('where there is no Lease, and a Deployment that works without one may not be seen', async () => {
    expect(await stateOf({ deployment: FORBIDDEN })).toMatchObject({
      state: 'unknown',
      message: 'you may not see it',
    });
  });

  test('where the server does not answer the second look at the Lease', async () => {
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

  test('a Lease that was deleted meanwhile has no holder', async () => {
    expect(await stateOf({ deployment: deployment(1), leases: [OLD, undefined] })).toMatchObject({
      state: 'down',
    });
  });
});
