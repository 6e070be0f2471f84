import { describe, expect, test } from 'bun:test';
import type { Edge } from '../../api/edge.ts';
import type { Finding } from '../../api/finding.ts';
import { objectText, type KubeObject } from '../../kube/object.ts';
import { planExposure } from '../../plan/plan.ts';
import { isTenantRoute } from '../../plan/tenant-routes.ts';
import { edge, exposure, facts } from '../../plan/testing/inputs.ts';
import { planRoutes, type RouteObservation, type RoutePlan } from './plan-routes.ts';

const BLUE = exposure();
const SHARED = edge();
const FAULT: Finding = { code: 'EdgeReferenceInvalid', severity: 'error', message: '', action: '' };
const FOREIGN = { ownerReferences: [] as const, labels: {} };

/** The objects of a plan for Exposure `tenants/blue` on an Edge. */
function objectsOn(edge: Edge, hosts: object = {}): readonly KubeObject[] {
  return planExposure({ exposure: exposure({ hosts }), edge }, facts()).management ?? [];
}

/** Returns the observation of a plan for {@link SHARED} if these objects already exist, with overrides. */
function observation(
  owned: readonly KubeObject[],
  given: Partial<RouteObservation> = {},
): RouteObservation {
  const { routes, management } = planExposure({ exposure: BLUE, edge: SHARED }, facts());
  const liveOf = (desired: KubeObject) =>
    owned.find((object) => objectText(object) === objectText(desired));
  return {
    exposure: BLUE,
    edge: SHARED,
    routes,
    planned: management?.map((desired) => ({ desired, live: liveOf(desired) })),
    owned,
    lostHosts: new Set(),
    findings: [],
    ...given,
  };
}

function names(objects: readonly KubeObject[]): readonly string[] {
  return objects.map(objectText);
}

function applied({ apply }: RoutePlan): readonly string[] {
  return names(apply.map(({ desired }) => desired));
}

const DESIRED = objectsOn(SHARED);
const PREVIOUS_HOST = objectsOn(SHARED, { api: 'old.example.com' }).filter(
  (object) => isTenantRoute(object) && object.spec.host === 'old.example.com',
);
const PREVIOUS_DRIVER = objectsOn(edge({ driver: 'traefik' }));
const OTHER_EDGE = objectsOn({ ...SHARED, metadata: { name: 'other' } }).filter(isTenantRoute);

test('an Exposure without routes gets all of them, TenantRoutes first', () => {
  const plan = planRoutes(observation([]));

  expect(applied(plan)).toEqual(names(DESIRED));
  expect(plan.apply.slice(0, 2).every(({ desired }) => isTenantRoute(desired))).toBe(true);
  expect(plan).toMatchObject({ remove: [], previous: [], isApplied: true, isElsewhere: false });
  expect(plan.isRoutedAsPlanned).toBe(false);
});

test('routes that are as desired stay', () => {
  const plan = planRoutes(observation(DESIRED));

  expect(applied(plan)).toEqual(names(DESIRED));
  expect(plan).toMatchObject({ remove: [], previous: [], isApplied: true });
  expect(plan.isRoutedAsPlanned).toBe(true);
});

test('nothing changes while the desired objects are unknown', () => {
  const plan = planRoutes(observation(OTHER_EDGE, { planned: undefined, routes: undefined }));

  expect(plan).toMatchObject({ apply: [], remove: [], isApplied: false, isElsewhere: true });
});

test('everything is removed if nothing is desired', () => {
  const owned = [...DESIRED, ...PREVIOUS_HOST, ...PREVIOUS_DRIVER];

  const plan = planRoutes(observation(owned, { planned: [], routes: undefined }));

  expect(names(plan.remove)).toEqual(names(owned));
  expect(plan.previous).toEqual([]);
});

describe('a move', () => {
  test('keeps the routes of the previous host and driver', () => {
    const owned = [...DESIRED, ...PREVIOUS_HOST, ...PREVIOUS_DRIVER];

    const plan = planRoutes(observation(owned));

    expect(names(plan.previous).toSorted()).toEqual(
      names([...PREVIOUS_HOST, ...PREVIOUS_DRIVER]).toSorted(),
    );
    expect(plan.remove).toEqual([]);
    expect(applied(plan)).toContain(objectText(PREVIOUS_HOST[0]!));
  });

  test.each<[string, Partial<RouteObservation>]>([
    ['belongs to another Exposure', { lostHosts: new Set(['old.example.com']) }],
    ['is withdrawn by the Edge', { edge: edge({ allowedHosts: ['*.k8s.example.com'] }) }],
  ])('removes the route of a previous host that %s', (_what, given) => {
    const plan = planRoutes(observation([...DESIRED, ...PREVIOUS_HOST], given));

    expect(names(plan.remove)).toEqual(names(PREVIOUS_HOST));
    expect(plan.previous).toEqual([]);
  });

  test('keeps the hosts of the first and the last move only', () => {
    const moved = Array.from({ length: 6 }, (_, index) => ({
      ...PREVIOUS_HOST[0]!,
      metadata: {
        ...PREVIOUS_HOST[0]!.metadata,
        name: `blue-${index}`,
        creationTimestamp: `2026-01-0${index + 1}T00:00:00Z`,
      },
    }));

    const plan = planRoutes(observation([...DESIRED, ...moved.toReversed()]));

    const number = ({ metadata }: KubeObject) => metadata.name.slice(-1);
    expect(plan.previous.map(number)).toEqual(['0', '1', '4', '5']);
    expect(plan.remove.map(number).toSorted()).toEqual(['2', '3']);
  });

  test('writes no TenantRoute and removes nothing while the new Edge cannot serve', () => {
    const plan = planRoutes(observation(OTHER_EDGE, { findings: [FAULT] }));

    expect(plan.apply.some(({ desired }) => isTenantRoute(desired))).toBe(false);
    expect(plan.apply.length).toBeGreaterThan(0);
    expect(plan).toMatchObject({ remove: [], isApplied: false, isElsewhere: true });
  });
});

test('an Exposure that is new is written while its Edge cannot serve', () => {
  const plan = planRoutes(observation(PREVIOUS_HOST, { findings: [FAULT] }));

  expect(applied(plan)).toEqual(names(DESIRED));
  expect(plan).toMatchObject({ remove: [], previous: [], isApplied: false });
});

test('a warning does not block', () => {
  const warning: Finding = { ...FAULT, severity: 'warning' };

  expect(planRoutes(observation([], { findings: [warning] })).isApplied).toBe(true);
});

describe('an object with a name that is needed', () => {
  const last = DESIRED.at(-1)!;
  const withLive = (metadata: object): RouteObservation => {
    const live = { ...last, metadata: { ...last.metadata, ...metadata } };
    const planned = DESIRED.map((desired) => ({
      desired,
      live: desired === last ? live : undefined,
    }));
    return observation(PREVIOUS_HOST, { planned });
  };

  test('is left alone if it is foreign, and nothing after it is written or removed', () => {
    const plan = planRoutes(withLive(FOREIGN));

    expect(applied(plan)).toEqual(names(DESIRED.slice(0, -1)));
    expect(plan).toMatchObject({ remove: [], previous: [], isApplied: false });
    expect(plan.obstacle).toMatchObject({ code: 'NameConflict', severity: 'error' });
  });

  test('is written if a restore has dropped its owner', () => {
    const plan = planRoutes(withLive({ ownerReferences: [] }));

    expect(applied(plan)).toContain(objectText(last));
    expect(plan.obstacle).toBeUndefined();
  });
});
