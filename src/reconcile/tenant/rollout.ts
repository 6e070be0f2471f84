/**
 * The rollout of one tenant's proxies, as part of those of all tenants.
 */
import type { WorkerSpec } from '../../api/worker.ts';
import { RESOURCES } from '../../kube/resource.ts';
import type { KubeObject } from '../../kube/object.ts';
import { EXPOSURE_ANNOTATION, PATH_ANNOTATION, RELEASE_ANNOTATION } from '../../tenant/release.ts';
import { EDGE_ANNOTATION } from '../../tenant/proxy-names.ts';
import { proxyCounts, type DaemonSetWithStatus } from '../../tenant/proxy-addresses.ts';
import { conditionTrue, type ConditionState } from '../conditions/condition-state.ts';
import type { TenantLink } from './link/tenant-link.ts';
import type { RolloutDecision, RolloutPacer } from './rollout-pacing.ts';
import { isEndpoints, type TenantChanges } from './tenant-side.ts';

const SNICKET_DRIVER = 'snicket';

/** The changes that the operator may apply now, and the decision about the rollout; undefined if none was needed. */
interface PacedChanges {
  readonly changes: TenantChanges;
  readonly decision: RolloutDecision | undefined;
  /** Whether the proxies keep their credentials for now. */
  readonly keepsCredentials: boolean;
}

/** Keeps the DaemonSet, and what its pods need, if the tenant has to wait for the rollouts of others. */
export function paceRollout(
  exposure: string,
  changes: TenantChanges,
  pacer: RolloutPacer,
): PacedChanges {
  const set = changes.wanted.find(({ desired }) => isDaemonSet(desired));
  const all = { changes, decision: undefined, keepsCredentials: false };
  if (set === undefined) return all;
  const live = set.live as DaemonSetWithStatus | undefined;
  const isOwn =
    live === undefined ||
    isOwnChange(set.desired, live) ||
    isCutOff(set.desired, live) ||
    hasLostRoutes(set.desired, live);
  if (isOwn) {
    pacer.startedOwn(exposure);
    return all;
  }
  if (!isBehind(set.desired, live)) return all;
  const decision = pacer.request(exposure, isHealthy(live));
  if (decision.mayStart) return { ...all, decision };
  // The pods of the previous template need the credentials and addresses of the previous Edge. Otherwise they use the new
  // ones at once.
  const keepsCredentials = hasOtherPath(set.desired, live);
  const waits = keepsCredentials ? isOfPods : isDaemonSet;
  // An object that another client has deleted is created at once: new pods would wait for it.
  const wanted = changes.wanted.map((object) =>
    waits(object.desired) && object.live !== undefined ? { ...object, waits: true } : object,
  );
  // The pods of the previous template may mount the other ones. No pod mounts endpoints.
  const prunable = changes.prunable.filter(isEndpoints);
  return { changes: { ...changes, wanted, prunable }, decision, keepsCredentials };
}

/** Reports the rollout of a tenant to the pacer. `after` are the objects of the tenant after an apply of the planned ones. */
export function observeRollout(
  exposure: string,
  planned: readonly KubeObject[],
  after: readonly KubeObject[],
  {
    worker,
    link,
    pacer,
  }: {
    readonly worker: Pick<WorkerSpec, 'image'>;
    readonly link: TenantLink;
    readonly pacer: RolloutPacer;
  },
): void {
  const desired = planned.find(isDaemonSet);
  const live = after.find(isDaemonSet) as DaemonSetWithStatus | undefined;
  if (desired === undefined || live === undefined) return;
  const { isObserved, desired: nodes, updated } = proxyCounts(live);
  pacer.observe(exposure, {
    isBehind: isBehind(desired, live),
    isObserved,
    isUpdated: updated >= nodes,
    isStuck: link.rolloutLeftMs(live) === 0,
    isHealthy: isHealthy(live),
    hasOwnImage: worker.image !== undefined,
  });
}

/** The condition of a tenant whose proxies work, and wait for a new template. */
export function pacedCondition(
  condition: ConditionState,
  decision: RolloutDecision | undefined,
): ConditionState {
  if (decision === undefined || decision.mayStart || condition.status !== 'True') return condition;
  return conditionTrue(decision.reason, decision.message);
}

function isHealthy(daemonSet: DaemonSetWithStatus): boolean {
  const { ready, desired } = proxyCounts(daemonSet);
  return ready >= desired;
}

/** A DaemonSet without these annotations is of an earlier release. */
function isBehind(desired: KubeObject, live: KubeObject): boolean {
  const release = annotation(desired, RELEASE_ANNOTATION);
  return release !== annotation(live, RELEASE_ANNOTATION) || hasOtherPath(desired, live);
}

/** The Edge, its driver or the API host has changed. */
function hasOtherPath(desired: KubeObject, live: KubeObject): boolean {
  const before = annotation(live, PATH_ANNOTATION);
  return before !== undefined && before !== annotation(desired, PATH_ANNOTATION);
}

/** The spec has changed; or the present pods are those of a cleanup, which serve no connections. */
function isOwnChange(desired: KubeObject, live: DaemonSetWithStatus): boolean {
  const before = annotation(live, EXPOSURE_ANNOTATION);
  const isProxy = live.spec.template.spec.containers.some(({ name }) => name === 'proxy');
  const isSameSpec = before === undefined || before === annotation(desired, EXPOSURE_ANNOTATION);
  return !isProxy || !isSameSpec;
}

/** No proxy reaches its Edge, which the change may mend. */
function isCutOff(desired: KubeObject, live: DaemonSetWithStatus): boolean {
  const { ready, desired: nodes } = proxyCounts(live);
  return hasOtherPath(desired, live) && ready === 0 && nodes > 0;
}

/**
 * The previous routes are gone, so waiting would interrupt the tenant. The route objects of a driver have the same names for
 * every host and Edge, so they are overwritten. Snicket's gateway serves TenantRoutes, of which the previous ones stay; and
 * so do the objects of a previous driver.
 */
function hasLostRoutes(desired: KubeObject, live: DaemonSetWithStatus): boolean {
  const driver = driverOf(desired);
  return hasOtherPath(desired, live) && driver === driverOf(live) && driver !== SNICKET_DRIVER;
}

/** The driver of the Edge that the pods of a DaemonSet use. */
function driverOf(object: KubeObject): string | undefined {
  const { template } = (object as DaemonSetWithStatus).spec;
  return template.metadata.annotations?.[EDGE_ANNOTATION]?.split(' ').at(-1);
}

function annotation({ metadata }: KubeObject, name: string): string | undefined {
  return metadata.annotations?.[name];
}

function isDaemonSet({ kind }: KubeObject): boolean {
  return kind === RESOURCES.daemonSet.kind;
}

/** The DaemonSet, and what its pods mount. */
function isOfPods(object: KubeObject): boolean {
  const { kind } = object;
  return isDaemonSet(object) || kind === RESOURCES.secret.kind || kind === RESOURCES.configMap.kind;
}
