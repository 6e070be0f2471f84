import { describe, expect, test } from 'bun:test';
import type { Finding } from '../../api/finding.ts';
import { context, ingressClass, live, NOON_MS, SPECS } from '../../edges/testing/blue.ts';
import { KubeError } from '../../kube/kube-error.ts';
import type { ObjectMeta } from '../../kube/object.ts';
import type { EdgeObservation } from './observe-edge.ts';
import { planEdge } from './plan-edge.ts';

const NOW = new Date(NOON_MS);
const EARLIER = '2026-11-16T11:00:00Z';
const DELETED: Partial<ObjectMeta> = { deletionTimestamp: EARLIER };
const WITH_ADDRESS = { addresses: ['203.0.113.10'] };
const FORBIDDEN = new KubeError('Forbidden', 'cannot list ingresses');
const INVALID: Finding = {
  code: 'FieldInvalid',
  severity: 'error',
  message: 'spec.port: 0 is too small',
  action: 'Correct the object.',
};

/** Returns the observation of an Edge that has an address and is used by Exposure `tenants/blue`, with overrides. */
function observation(
  overrides: Partial<EdgeObservation> = {},
  metadata: Partial<ObjectMeta> = {},
): EdgeObservation {
  return {
    object: {
      apiVersion: 'snicket.dev/v1alpha1',
      kind: 'Edge',
      metadata: { name: 'shared', generation: 3, ...metadata },
    },
    status: undefined,
    context: context({ ...SPECS.snicket, ...WITH_ADDRESS }),
    users: ['tenants/blue'],
    routes: [],
    readError: undefined,
    defaultFinding: undefined,
    protectsEdges: true,
    now: NOW,
    ...overrides,
  };
}

function conditionsOf(observed: EdgeObservation): Readonly<Record<string, string>> {
  const { conditions = [] } = planEdge(observed).status ?? {};
  return Object.fromEntries(
    conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]),
  );
}

describe('the conditions of an Edge', () => {
  const haproxy = { ...SPECS.haproxy, ...WITH_ADDRESS };
  const withClass = { ingressClasses: [ingressClass('haproxy', 'haproxy.org/ingress-controller')] };

  test.each<[string, EdgeObservation, string, string]>([
    ['that can serve', observation(), 'True Accepted', 'True Ready'],
    [
      'with a class',
      observation({ context: context(haproxy, withClass) }),
      'True Accepted',
      'True Ready',
    ],
    [
      'without its class',
      observation({ context: context(haproxy) }),
      'False EdgeReferenceInvalid',
      'False EdgeReferenceInvalid',
    ],
    [
      'whose kinds cannot be read',
      observation({ readError: FORBIDDEN }),
      'False PermissionMissing',
      'False PermissionMissing',
    ],
    [
      'without an address',
      observation({ context: context(SPECS.snicket) }),
      'True Accepted',
      'False AddressUnknown',
    ],
    [
      'that cannot be parsed',
      observation({ context: INVALID }),
      'False FieldInvalid',
      'Unknown WaitingForCondition',
    ],
    ['that is deleted and in use', observation({}, DELETED), 'False EdgeTerminating', 'True Ready'],
  ])('%s', (_what, observed, accepted, ready) => {
    expect(conditionsOf(observed)).toEqual({ Accepted: accepted, Ready: ready });
  });

  test('name the Exposures that still use a deleted Edge, sorted', () => {
    const users = ['tenants/red', 'tenants/blue'];

    const { status } = planEdge(observation({ users }, DELETED));

    expect(status?.conditions?.[0]?.message).toContain(
      'It keeps serving the Exposures that use it: tenants/blue, tenants/red.',
    );
  });

  test('warn about the annotation of the default Edge', () => {
    const defaultFinding: Finding = {
      code: 'DefaultEdgeInvalid',
      severity: 'warning',
      message: 'a and b are the default Edge',
      action: 'choose one',
    };

    const { status } = planEdge(observation({ defaultFinding }));

    expect(status?.conditions?.[0]).toMatchObject({
      status: 'True',
      message: expect.stringContaining('DefaultEdgeInvalid: a and b') as unknown,
    });
  });

  test('keep the time of their last transition', () => {
    const { status: before } = planEdge(observation({ now: new Date(EARLIER) }));

    const { status } = planEdge(
      observation({ status: before, context: context(SPECS.snicket) }, { generation: 4 }),
    );

    const [accepted, ready] = status?.conditions ?? [];
    expect(accepted).toMatchObject({ lastTransitionTime: EARLIER, observedGeneration: 4 });
    expect(ready).toMatchObject({ lastTransitionTime: '2026-11-16T12:00:00Z' });
  });
});

describe('the finalizer of an Edge is set only while the Edge is in use and protected:', () => {
  test.each<[string, Partial<EdgeObservation>, Partial<ObjectMeta>, boolean]>([
    ['in use', {}, {}, true],
    ['in use and deleted', {}, DELETED, true],
    ['not in use', { users: [] }, {}, false],
    ['not in use and deleted', { users: [] }, DELETED, false],
    ['in use, without protection', { protectsEdges: false }, {}, false],
  ])('%s', (_what, given, metadata, isProtected) => {
    expect(planEdge(observation(given, metadata)).isProtected).toBe(isProtected);
  });
});

test('an Edge that is deleted and not in use gets no status', () => {
  const plan = planEdge(observation({ users: [], readError: FORBIDDEN }, DELETED));

  expect(plan).toEqual({ isProtected: false });
});

test('an Edge whose kinds cannot be read is reconciled again', () => {
  expect(planEdge(observation({ readError: FORBIDDEN })).retry).toBe(FORBIDDEN);
  expect(planEdge(observation()).retry).toBeUndefined();
});

describe('the addresses of an Edge', () => {
  const statusAt = (addresses: readonly string[]) =>
    planEdge(observation({ context: context({ ...SPECS.snicket, addresses }) })).status;

  test('are listed, and summarized for a column of kubectl get', () => {
    expect(statusAt(['192.0.2.1'])).toMatchObject({
      observedGeneration: 3,
      exposures: 1,
      addresses: ['192.0.2.1'],
      addressSummary: '192.0.2.1',
    });
    const four = [1, 2, 3, 4].map((last) => `192.0.2.${last}`);
    expect(statusAt(four)?.addressSummary).toBe('192.0.2.1, 192.0.2.2, 192.0.2.3 and 1 more');
  });

  test('are the addresses that its controller reports on a route, if the spec has none', () => {
    const ingress = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name: 'snicket-blue.haproxy', namespace: 'tenants' },
      spec: { ingressClassName: 'haproxy' },
    };
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.7' }] } };

    const plan = planEdge(
      observation({ context: context(SPECS.haproxy), routes: [live(ingress, status)] }),
    );

    expect(plan.status?.addresses).toEqual(['192.0.2.7']);
  });
});
