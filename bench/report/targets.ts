/** The goals of Snicket, and whether a run meets them. */
import type { Load } from '../cases.ts';
import type { RouteCosts } from '../measure/routes.ts';
import { outcomeOf, spreadOf } from './statistics.ts';
import type { Results } from './results.ts';

/** A goal: a figure with its upper limit. */
export interface GoalResult {
  readonly goal: string;
  readonly limit: number;
  readonly unit: string;
  /** Undefined if this run did not measure it, or if it failed. */
  readonly measured: number | undefined;
  readonly failure?: string;
}

/** Goals for CPU time: maximum ratios of a peer to a base, per load. */
interface RatioTarget {
  readonly peer: string;
  readonly base: string;
  readonly cases: string;
  readonly limits: Readonly<Record<Load, number>>;
}

const RATIOS: readonly RatioTarget[] = [
  {
    peer: 'snicket-epoll',
    base: 'haproxy',
    cases: 'gateway.plain',
    limits: { connect: 0.92, request: 0.95, download: 0.3, upload: 0.3 },
  },
  {
    peer: 'snicket-bun',
    base: 'haproxy',
    cases: 'gateway.plain',
    limits: { connect: 1.1, request: 1.1, download: 0.5, upload: 0.5 },
  },
  {
    peer: 'snicket-passthrough',
    base: 'haproxy-passthrough',
    cases: 'proxy.plain',
    limits: { connect: 0.85, request: 0.9, download: 0.5, upload: 0.5 },
  },
  {
    peer: 'snicket-passthrough',
    base: 'haproxy-terminate',
    cases: 'proxy.tls',
    limits: { connect: 0.22, request: 0.5, download: 0.25, upload: 0.25 },
  },
  {
    peer: 'snicket-terminate',
    base: 'haproxy-terminate',
    cases: 'proxy.tls',
    limits: { connect: 0.65, request: 0.7, download: 0.85, upload: 0.85 },
  },
];

const MEMORY = [
  { peer: 'snicket-epoll', restMegabytes: 42, kilobytesPerConnection: 0.6 },
  { peer: 'snicket-passthrough', restMegabytes: 30, kilobytesPerConnection: undefined },
  { peer: 'snicket-terminate', restMegabytes: 30, kilobytesPerConnection: 16 },
] as const;

/** Returns the maximum ratio, for marks in tables and plots. Undefined if there is no goal. */
export function limitOf(peer: string, base: string, caseId: string): number | undefined {
  const target = RATIOS.find(
    (ratio) => ratio.peer === peer && ratio.base === base && caseId.startsWith(`${ratio.cases}.`),
  );
  return target?.limits[caseId.split('.').at(-1) as Load];
}

/** Returns all goals with the figures of a run. */
export function goalResults(results: Results): GoalResult[] {
  return [...ratioGoals(results), ...memoryGoals(results), ...routeGoals(results.routes)];
}

function ratioGoals(results: Results): GoalResult[] {
  return RATIOS.flatMap((target) =>
    (Object.keys(target.limits) as Load[]).map((load) => {
      const caseId = `${target.cases}.${load}`;
      const outcome = outcomeOf(results.samples, { ...target, case: caseId });
      const result = {
        goal: `${target.peer} to ${target.base}, ${caseId}`,
        limit: target.limits[load],
        unit: 'ratio',
      };
      switch (outcome.kind) {
        case 'measured':
          return { ...result, measured: outcome.ratio.median };
        case 'failed':
          return { ...result, measured: undefined, failure: `${outcome.errors} errors` };
        case 'absent':
          return { ...result, measured: undefined };
      }
    }),
  );
}

function memoryGoals(results: Results): GoalResult[] {
  return MEMORY.flatMap((target) => {
    const idle = results.idle.find(({ peer }) => peer === target.peer);
    const rest: GoalResult = {
      goal: `${target.peer} at rest`,
      limit: target.restMegabytes,
      unit: 'MB',
      measured: idle && idle.restBytes / 1e6,
    };
    if (target.kilobytesPerConnection === undefined) return [rest];
    const connection: GoalResult = {
      goal: `${target.peer}, an idle connection`,
      limit: target.kilobytesPerConnection,
      unit: 'KB',
      measured: idle && idle.bytesPerConnection / 1024,
    };
    return [rest, connection];
  });
}

function routeGoals(routes: RouteCosts | undefined): GoalResult[] {
  return [
    {
      goal: '10,000 routes, start',
      limit: 1_000,
      unit: 'ms',
      measured: routes?.startMs.many,
    },
    {
      goal: '10,000 routes, one change live',
      limit: 50,
      unit: 'ms',
      measured: routes && spreadOf(routes.changeMs).median,
    },
    {
      goal: '10,000 routes to 10, new connection',
      // A margin for noise. The goal is that routes have no effect.
      limit: 1.05,
      unit: 'ratio',
      measured: routes && spreadOf(routes.lookupRatios).median,
    },
  ];
}
