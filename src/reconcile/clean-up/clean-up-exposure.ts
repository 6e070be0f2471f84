/**
 * The cleanup of a deleted Exposure: restores both clusters, then removes the finalizers.
 *
 * The objects of the provider come first: its API servers maintain their endpoints themselves again. The tenant is next, while
 * its nodes still reach their API through the route. A tenant that cannot be reached delays this for a bounded time only; an
 * event says what stays behind in it.
 */
import { findingText } from '../../api/finding.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import { recordFinding } from '../../providers/preparation/plan-preparation.ts';
import { isUsable, RECORD_ANNOTATION, recordOf } from '../../providers/preparation/record.ts';
import { servedVersion } from '../../providers/provider-resources.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { managementFault } from '../management-fault.ts';
import type { Poll } from '../poll-backoff.ts';
import { restore } from '../preparation/restore.ts';
import type { StaleSecrets } from '../preparation/secret-renewals.ts';
import {
  PREPARATION_FINALIZER,
  removeExposureFinalizer,
  ROUTES_FINALIZER,
  TENANT_FINALIZER,
} from '../finalizers.ts';
import type { ReconcileDeps } from '../reconcile-deps.ts';
import { cleanUpTenant, unreachableReason, type Blocked } from './clean-up-tenant.ts';
import type { CleanupDeadline, CleanupTime } from './cleanup-deadline.ts';
import { withdrawRoutes } from '../routes/reconcile-routes.ts';
import { cleanupWarning } from './cleanup-warning.ts';
import { currentObjects } from './current-control-plane.ts';
import { recordRemainingHosts } from './remaining-hosts.ts';

/** What is remembered of a cleanup between two attempts. */
export interface CleanupState {
  readonly deadline: Pick<CleanupDeadline, 'timeLeft'>;
  readonly staleSecrets: StaleSecrets;
}

const FIRST_MS = 3_000;
const KEEPS_TENANT_OBJECTS = `leaves DaemonSet ${keyText(PROXY)} and its objects in place`;

/** What a cleanup waits for, and when it continues. */
export interface CleanupWait extends Blocked {
  /** The finalizer of the step that it waits for. */
  readonly finalizer: string;
  readonly poll: Poll;
  /** The time until it gives up. */
  readonly leftMs: number;
}

/**
 * What the cleanup will wait for if the tenant did not answer before: the first attempt may take long. Undefined: the tenant
 * is expected to answer.
 */
export function expectedWait(
  object: KubeObject,
  { deadline }: Pick<CleanupState, 'deadline'>,
): string | undefined {
  const { metadata } = object;
  const unreachable = metadata.finalizers?.includes(TENANT_FINALIZER)
    ? unreachableReason(object)
    : undefined;
  if (unreachable === undefined) return undefined;
  const time = deadline.timeLeft(metadata);
  return time.leftMs > 0 ? waitText(unreachable, time, KEEPS_TENANT_OBJECTS) : undefined;
}

/** One attempt of a cleanup; undefined if it is finished. @throws KubeError of the management cluster */
export async function cleanUpExposure(
  object: KubeObject,
  deps: ReconcileDeps,
  state: CleanupState,
  signal: AbortSignal,
): Promise<CleanupWait | undefined> {
  const { links, events, log } = deps;
  const key = keyText(object.metadata);
  const { finalizers = [] } = object.metadata;
  const time = state.deadline.timeLeft(object.metadata);
  const unrestored = finalizers.includes(PREPARATION_FINALIZER)
    ? await orFault(async () => restoreProvided(object, deps, time, signal), signal)
    : undefined;
  if (unrestored !== undefined) {
    if (time.leftMs > 0) {
      const consequence = 'leaves its fields in the objects of the control plane';
      return waiting(PREPARATION_FINALIZER, unrestored, time, consequence);
    }
    const note = `Gave up after ${secondsText(time)}. ${unrestored.because} The fields that Snicket wrote stay in the objects of the control plane.`;
    events.record(object, cleanupWarning('CleanupIncomplete', note));
    // The record goes with the Exposure: the log is the only place that keeps the previous values.
    const record = object.metadata.annotations?.[RECORD_ANNOTATION];
    log.error('control plane not restored', { exposure: key, reason: unrestored.because, record });
  }
  const rest = finalizers.includes(TENANT_FINALIZER)
    ? await orFault(async () => cleanUpTenant(object, deps, time, signal), signal)
    : undefined;
  if (rest !== undefined) {
    // Read again: nodes that were only just reached get their time.
    const left = state.deadline.timeLeft(object.metadata);
    if (left.leftMs > 0) return waiting(TENANT_FINALIZER, rest, left, KEEPS_TENANT_OBJECTS);
    const note = `Gave up after ${secondsText(left)}. ${rest.because} Left in place in the tenant: DaemonSet kube-system/snicket-proxy, its Secret, ConfigMap and ServiceAccount, and the endpoints of Service default/kubernetes.`;
    events.record(object, cleanupWarning('CleanupIncomplete', note));
    log.error('tenant not cleaned up', { exposure: key, reason: rest.because });
  }
  if (finalizers.includes(PREPARATION_FINALIZER) && unrestored === undefined) {
    await reportRemainingHosts(object, deps, state, signal);
  }
  await withdrawRoutes(object, deps, signal);
  links.forget(key);
  for (const finalizer of [TENANT_FINALIZER, PREPARATION_FINALIZER, ROUTES_FINALIZER]) {
    await removeExposureFinalizer(deps, object, finalizer, signal);
  }
  return undefined;
}

/** A failure does not delay the cleanup. */
async function reportRemainingHosts(
  object: KubeObject,
  deps: ReconcileDeps,
  { staleSecrets }: CleanupState,
  signal: AbortSignal,
): Promise<void> {
  try {
    await recordRemainingHosts(object, deps, staleSecrets, signal);
  } catch (error) {
    if (!isKubeError(error) || signal.aborted) throw error;
    const exposure = keyText(object.metadata);
    deps.log.warn('failed to report remaining uses of removed hosts', { exposure, error });
  }
}

/** An error of the management cluster delays the cleanup for a bounded time only, like any other failure. */
async function orFault(
  take: () => Promise<Blocked | undefined>,
  signal: AbortSignal,
): Promise<Blocked | undefined> {
  try {
    return await take();
  } catch (error) {
    if (!isKubeError(error) || signal.aborted) throw error;
    const finding = managementFault(error);
    return { because: findingText(finding), finding, fault: error };
  }
}

function waiting(
  finalizer: string,
  blocked: Blocked,
  time: CleanupTime,
  consequence: string,
): CleanupWait {
  return {
    ...blocked,
    because: waitText(blocked.because, time, consequence),
    finalizer,
    poll: { reason: `${finalizer} ${blocked.finding?.code ?? ''}`, firstMs: FIRST_MS },
    leftMs: time.leftMs,
  };
}

function waitText(because: string, { givesUpAt }: CleanupTime, consequence: string): string {
  const at = `${givesUpAt.toISOString().slice(0, 19)}Z`;
  return `${because} At ${at}, Snicket gives up and ${consequence}.`;
}

function secondsText({ waitedMs }: CleanupTime): string {
  return `${Math.round(waitedMs / 1000)} s`;
}

/** Restores the objects of the provider; says what prevents that. @throws KubeError */
async function restoreProvided(
  exposure: KubeObject,
  { management, statuses }: ReconcileDeps,
  { isHalfOver: isLate }: CleanupTime,
  signal: AbortSignal,
): Promise<Blocked | undefined> {
  const { client, served } = management;
  const objects = currentObjects(management, signal);
  const servedAs = (resource: Resource) => servedVersion(resource, served) ?? resource;
  const wrote = (before: KubeObject, after: KubeObject) => statuses.wrote(before, after);
  const because = await restore(client, { exposure, servedAs, objects, isLate, wrote }, signal);
  if (because === undefined) return undefined;
  const record = recordOf(exposure);
  return { because, finding: isUsable(record) ? undefined : recordFinding(exposure, record) };
}
