/**
 * The state of a tenant after its objects were applied.
 */
import { findingText } from '../../api/finding.ts';
import type { ExposureStatus } from '../../api/exposure.ts';
import type { WorkerSpec } from '../../api/worker.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import type { HopResult } from '../../probe/hop.ts';
import { judgeEndpoints } from '../../probe/hops/endpoints.ts';
import { judgeProxies, type ProxiesInput } from '../../probe/hops/proxies.ts';
import type { EndpointSlice } from '../../kube/endpoints/endpoint-slice.ts';
import {
  isChangingAddresses,
  proxyCounts,
  type DaemonSetWithStatus,
  type ProxyCounts,
} from '../../tenant/proxy-addresses.ts';
import {
  conditionTrue,
  conditionPending,
  type ConditionState,
} from '../conditions/condition-state.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Poll } from '../poll-backoff.ts';
import { soonest } from '../requeue.ts';
import type { TenantLink } from './link/tenant-link.ts';
import type { TenantChanges } from './tenant-side.ts';

/** The state of a tenant. */
export interface TenantOutcome {
  readonly condition: ConditionState;
  /** The hops that the tenant's API reports. */
  readonly hops: readonly HopResult[];
  readonly proxies?: { readonly ready: number; readonly desired: number } | undefined;
  readonly certificate?: ExposureStatus['certificate'];
  /** When to reconcile again, earlier than usual. */
  readonly requeueAfterMs?: number | undefined;
  /** What the tenant lacks, if no watch reports it. */
  readonly poll?: Poll | undefined;
  /** Absent: the tenant could not be read, or is not owned. */
  readonly observed?: ObservedTenant | undefined;
}

/** What was read from a tenant, and planned for it. */
export interface ObservedTenant {
  readonly client: KubeClient;
  /** Everything in it that has a name of ours, no matter who created it. */
  readonly live: readonly KubeObject[];
  readonly plan: Plan;
  /** Absent: there is no plan for the tenant. */
  readonly changes?: TenantChanges | undefined;
  /** Why its proxies get new credentials. */
  readonly reissued?: string | undefined;
}

/** What was applied. */
interface AppliedTenant {
  readonly planned: readonly KubeObject[];
  /** All objects as they are then. */
  readonly after: readonly KubeObject[];
  /** When to apply again, if another client reverts the objects. */
  readonly retryInMs: number | undefined;
  readonly worker: WorkerSpec;
}

/** The delay until a tenant without nodes for proxies is observed again. */
const EMPTY_MS = 120_000;
/** Codes that need action by a user. */
const NEEDS_USER: ReadonlySet<string> = new Set(['NoNodeSelected', 'ProxiesStuck']);

/** Observes the tenant after an apply. @throws KubeError */
export async function outcomeOf(
  { planned, after, retryInMs, worker }: AppliedTenant,
  link: TenantLink,
  signal: AbortSignal,
): Promise<TenantOutcome> {
  const daemonSet = after.find(isDaemonSet);
  const nodes = await countOfNodes(link, daemonSet, signal);
  const rolloutLeftMs = daemonSet && link.rolloutLeftMs(daemonSet);
  const judged = judge(link, planned, after, {
    nodes,
    isStuck: rolloutLeftMs === 0,
    hasOldAddresses: daemonSet && isChangingAddresses(daemonSet, worker),
  });
  const requeueAfterMs = soonest(
    retryInMs,
    rolloutLeftMs === 0 ? undefined : rolloutLeftMs,
    // A node that gets no proxy joins without a change of the DaemonSet, which is watched.
    nodes === undefined ? undefined : EMPTY_MS,
  );
  return { ...judged, requeueAfterMs };
}

/** The number of nodes, to explain a DaemonSet without proxies. Undefined: there are proxies. */
async function countOfNodes(
  { client, nodes }: TenantLink,
  daemonSet: DaemonSetWithStatus | undefined,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { isObserved, desired } = countsOf(daemonSet);
  if (!isObserved || desired > 0) return undefined;
  if (nodes !== undefined) return nodes.list().length;
  try {
    return await client.count(RESOURCES.node, { signal });
  } catch (error) {
    // A kubeconfig with few permissions is enough for everything else.
    if (isKubeError(error, 'Forbidden')) return 0;
    throw error;
  }
}

/** Judges the objects as they were applied: in the watch, a changed DaemonSet may still look rolled out. */
function judge(
  link: TenantLink,
  planned: readonly KubeObject[],
  after: readonly KubeObject[],
  more: Pick<ProxiesInput, 'nodes' | 'isStuck' | 'hasOldAddresses'>,
): TenantOutcome {
  const slices = planned.filter((object) => isSlice(object));
  const wanted = planned.find(isDaemonSet);
  const daemonSet = after.find(isDaemonSet);
  const endpoints = judgeEndpoints({
    planned: slices,
    live: after.filter((object) => isSlice(object)),
  });
  const proxies = judgeProxies({
    daemonSet,
    ...more,
    ...(link.pods !== undefined && { pods: link.pods.list() }),
    image: wanted?.spec.template.spec.containers[0]?.image ?? '',
  });
  const { ready, desired } = countsOf(daemonSet);
  return {
    condition: conditionOf(endpoints, proxies),
    hops: [endpoints, proxies],
    proxies: { ready, desired },
  };
}

function countsOf(daemonSet: DaemonSetWithStatus | undefined): ProxyCounts {
  return daemonSet === undefined ? NO_PROXIES : proxyCounts(daemonSet);
}

const NO_PROXIES: ProxyCounts = { isObserved: false, desired: 0, updated: 0, ready: 0 };

function conditionOf(endpoints: HopResult, proxies: HopResult): ConditionState {
  const failed = [endpoints, proxies].find(({ state }) => state === 'Fail');
  if (failed !== undefined) {
    const { code } = failed;
    const waiting = conditionPending(code, findingText(failed));
    return NEEDS_USER.has(code) ? { ...waiting, isWaiting: false } : waiting;
  }
  return conditionTrue(proxies.code, proxies.message);
}

function isSlice(object: KubeObject): object is EndpointSlice {
  return object.kind === RESOURCES.endpointSlice.kind;
}

function isDaemonSet(object: KubeObject): object is DaemonSetWithStatus {
  return object.kind === RESOURCES.daemonSet.kind;
}
