import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { parseEdge } from '../../api/objects.ts';
import type { ExposureStatus } from '../../api/exposure.ts';
import type { Plan } from '../../plan/plan.ts';
import type { ExposureRoutes } from '../../edges/route.ts';
import { hopResult } from '../../probe/hop.ts';
import { nextStatus, type StatusInput } from './exposure-status.ts';
import type {
  ConditionState,
  ConditionStates,
} from '../../reconcile/conditions/condition-state.ts';

const [EARLY, LATE] = [new Date('2026-11-01T10:00:00Z'), new Date('2026-11-02T11:11:11Z')];

const EDGE = parseEdge({
  apiVersion: 'snicket.dev/v1alpha1',
  kind: 'Edge',
  metadata: { name: 'shared' },
  spec: { driver: 'snicket', domain: 'example.test' },
});

const ROUTES: ExposureRoutes = {
  name: 'blue',
  namespace: 'tenants',
  api: { kind: 'api', host: 'blue.example.test', service: 'blue', port: 6443, portName: 'api' },
};

const PLAN: Plan = {
  mode: 'Passthrough',
  routes: ROUTES,
  management: [],
  findings: [],
  endpoint: 'blue.example.test:443',
};

function all(state: ConditionState): ConditionStates {
  return {
    Accepted: state,
    Prepared: state,
    Routed: state,
    WorkersReady: state,
    KonnectivityReady: state,
    Reachable: state,
  };
}

const GOOD = all({ status: 'True', reason: 'Fine', message: 'all is well' });
const BAD = all({ status: 'False', reason: 'Bad', message: 'nothing is' });

const INPUT: StatusInput = {
  generation: 3,
  conditions: GOOD,
  edge: EDGE,
  plan: PLAN,
  isRouted: true,
  hops: [hopResult('dns', 'Passed', 'blue.example.test', 'it resolves')],
  proxies: { ready: 1, desired: 2 },
};

const state: fc.Arbitrary<ConditionState> = fc.record({
  status: fc.constantFrom('True', 'False', 'Unknown'),
  reason: fc.constantFrom('One', 'Other'),
  message: fc.string(),
});

const input: fc.Arbitrary<StatusInput> = fc.record({
  generation: fc.nat({ max: 3 }),
  conditions: state.map(all),
  edge: fc.option(fc.constant(EDGE), { nil: undefined }),
  plan: fc.constantFrom(undefined, PLAN, { ...PLAN, routes: undefined }),
  isRouted: fc.boolean(),
  hops: fc.constantFrom(undefined, INPUT.hops, [
    hopResult('dns', 'DnsNoAnswer', 'blue.example.test', 'no', { host: 'blue', edge: 'x' }),
  ]),
  proxies: fc.option(fc.record({ ready: fc.nat(), desired: fc.nat() }), { nil: undefined }),
});

describe('the status of an Exposure', () => {
  test('is equal, including times, if the result is the same later', () => {
    fc.assert(
      fc.property(fc.array(input, { maxLength: 3 }), input, (earlier, found) => {
        const start = undefined as ExposureStatus | undefined;
        const before = earlier.reduce((status, result) => nextStatus(status, result, EARLY), start);

        const first = nextStatus(before, found, EARLY);

        expect(nextStatus(first, found, LATE)).toEqual(first);
      }),
    );
  });

  test('reports how clients reach the tenant, and the hops', () => {
    expect(nextStatus(undefined, INPUT, EARLY)).toMatchObject({
      observedGeneration: 3,
      endpoint: 'blue.example.test:443',
      edgeRef: { name: 'shared' },
      driver: 'snicket',
      mode: 'Passthrough',
      proxies: { ready: 1, desired: 2, summary: '1/2' },
      hops: [{ name: 'dns', state: 'Pass', reason: 'Passed', at: '2026-11-01T10:00:00Z' }],
    });
  });

  test('changes the time of a condition only with its status, and of a hop with its result', () => {
    const before = nextStatus(undefined, INPUT, EARLY);
    const reworded = all({ status: 'True', reason: 'Fine', message: 'in other words' });

    const same = nextStatus(before, { ...INPUT, generation: 4, conditions: reworded }, LATE);
    const late = { status: 'False', reason: 'Bad', message: 'nothing is' } as const;
    const turned = nextStatus(before, { ...INPUT, conditions: { ...GOOD, Routed: late } }, LATE);
    const routed = turned.conditions?.find(({ type }) => type === 'Routed');

    expect(same.conditions?.[0]).toMatchObject({
      message: 'in other words',
      observedGeneration: 4,
      lastTransitionTime: '2026-11-01T10:00:00Z',
    });
    expect(routed?.lastTransitionTime).toBe('2026-11-02T11:11:11Z');
    expect(turned.hops?.[0]?.at).toBe('2026-11-01T10:00:00Z');
  });

  test('keeps the whole current path until the planned routes are applied', () => {
    const before = nextStatus(undefined, INPUT, EARLY);
    const elsewhere = parseEdge({ ...EDGE, spec: { driver: 'haproxy', domain: 'other.test' } });
    const plan: Plan = {
      ...PLAN,
      mode: 'Terminate',
      endpoint: 'other.test:8443',
      routes: undefined,
    };
    const way = ({ endpoint, edgeRef, driver, mode }: ExposureStatus) => ({
      endpoint,
      edgeRef,
      driver,
      mode,
    });

    const waiting = nextStatus(before, { ...INPUT, plan, edge: elsewhere, isRouted: false }, LATE);
    const unknown = { generation: 4, conditions: BAD, isRouted: false };
    const refused = nextStatus(before, unknown, LATE);

    expect(way(waiting)).toEqual(way(before));
    expect(way(refused)).toEqual(way(before));
    expect(refused.proxies).toEqual(before.proxies);
  });

  describe('has hops of the current path only', () => {
    const before = nextStatus(undefined, INPUT, EARLY);
    const { hops: _, ...unprobed } = INPUT;

    test('which stay while it is the same', () => {
      expect(nextStatus(before, { ...unprobed, generation: 4 }, LATE).hops).toEqual(before.hops);
    });

    test('none of another host, port or Edge', () => {
      const other = parseEdge({ ...EDGE, metadata: { name: 'other' } });
      const ways = [
        { plan: { ...PLAN, endpoint: 'blue.example.test:8443' } },
        { areHopsCurrent: false },
        { edge: other },
      ];

      for (const way of ways) {
        expect(nextStatus(before, { ...unprobed, ...way }, LATE).hops).toBeUndefined();
      }
    });

    test('none if the spec is rejected or if there is no route', () => {
      const noRoutes = { ...PLAN, routes: undefined };
      const unknown = { generation: 4, conditions: BAD, isRouted: false };

      expect(nextStatus(before, unknown, LATE).hops).toBeUndefined();
      expect(nextStatus(before, { ...INPUT, plan: noRoutes }, LATE).hops).toBeUndefined();
    });

    test('with their own times', () => {
      const elsewhere = { ...PLAN, endpoint: 'blue.example.test:8443' };

      const after = nextStatus(before, { ...INPUT, plan: elsewhere }, LATE);

      expect(after.hops?.[0]?.at).toBe('2026-11-02T11:11:11Z');
    });
  });

  test('keeps the certificate, and drops it if none is served', () => {
    const certificate = { notAfter: 'later', renewAt: 'soon', authority: 'SHA256' };
    const ending = { ...INPUT, plan: { ...PLAN, mode: 'Terminate' } as const };
    const before = nextStatus(undefined, { ...ending, certificate }, EARLY);

    expect(nextStatus(before, ending, LATE).certificate).toEqual(certificate);
    expect(nextStatus(before, INPUT, LATE).certificate).toBeUndefined();
  });
});
