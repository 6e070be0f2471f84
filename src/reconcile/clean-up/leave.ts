/**
 * Taking an Exposure away: both sides as they were, then the finalizers.
 *
 * First the objects of its provider, whose API servers then keep their endpoints themselves again. The tenant comes next,
 * while its nodes still reach their API by the route. A tenant that cannot be reached holds this up for a bounded time
 * only; what stays behind in it then is said in an event.
 */
import { findingText } from '../../api/finding.ts';
import { removeFinalizer } from '../../kube/finalizer.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import { RESOURCES, type Resource } from '../../kube/resource.ts';
import { RECORD_ANNOTATION } from '../../providers/preparation/record.ts';
import { servedVersion } from '../../providers/provider-resources.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { managementFault } from '../management-fault.ts';
import { restore } from '../preparation/restore.ts';
import type { SecretRenewals } from '../preparation/secret-renewals.ts';
import {
  PREPARATION_FINALIZER,
  ROUTES_FINALIZER,
  TENANT_FINALIZER,
  type ExposureVersions,
} from '../finalizers.ts';
import { leaveTenant, silenceOf, type Blocked, type TenantLeaveMeans } from './leave-tenant.ts';
import type { LeaveTime, LeaveTimes } from './leave-times.ts';
import { presentObjects } from './left-control-plane.ts';
import { tellLeftHosts } from './left-hosts.ts';
import type { Routing } from '../routes/routing.ts';

/** What it takes. */
export interface LeaveMeans extends TenantLeaveMeans {
  readonly routing: Routing;
  readonly versions: ExposureVersions;
  readonly leaveTimes: Pick<LeaveTimes, 'timeOf'>;
  readonly renewals: SecretRenewals;
}

const AGAIN_MS = 3_000;
const TENANT_LEFT = `leaves DaemonSet ${keyText(PROXY)} and what belongs to it there`;

/** What an Exposure that leaves waits for, and when to go on. */
export interface Leaving extends Blocked {
  readonly requeueAfterMs: number;
}

/**
 * What an Exposure will wait for whose tenant was silent already, for people who want to know now: a step that waits for its
 * answer may take long. Undefined: its tenant is expected to answer.
 */
export function foreseenWait(
  object: KubeObject,
  { leaveTimes }: Pick<LeaveMeans, 'leaveTimes'>,
): string | undefined {
  const { metadata } = object;
  const silence = metadata.finalizers?.includes(TENANT_FINALIZER) ? silenceOf(object) : undefined;
  if (silence === undefined) return undefined;
  const time = leaveTimes.timeOf(keyText(metadata), metadata);
  return time.leftMs > 0 ? waiting({ because: silence }, time, TENANT_LEFT).because : undefined;
}

/** One step of leaving; undefined if it is done. @throws KubeError of the management cluster */
export async function leave(
  object: KubeObject,
  means: LeaveMeans,
  signal: AbortSignal,
): Promise<Leaving | undefined> {
  const { management, routing, versions, links, events, log } = means;
  const key = keyText(object.metadata);
  const { finalizers = [] } = object.metadata;
  const time = means.leaveTimes.timeOf(key, object.metadata);
  const unrestored = finalizers.includes(PREPARATION_FINALIZER)
    ? await orFault(async () => restoreProvided(object, means, time, signal), signal)
    : undefined;
  if (unrestored !== undefined) {
    if (time.leftMs > 0) {
      return waiting(unrestored, time, 'leaves what it wrote into the control plane there');
    }
    const note = `gave up after ${secondsText(time)}: ${unrestored.because}. What Snicket wrote into the control plane stays there`;
    const reason = 'ControlPlaneLeftPrepared';
    events.record(object, { type: 'Warning', action: 'Leave', reason, note });
    // The record goes with the Exposure: the log is the only place that keeps the previous values.
    const record = object.metadata.annotations?.[RECORD_ANNOTATION];
    log.error('a control plane was left as it is', {
      exposure: key,
      because: unrestored.because,
      record,
    });
  }
  const rest = finalizers.includes(TENANT_FINALIZER)
    ? await orFault(async () => leaveTenant(object, means, time, signal), signal)
    : undefined;
  if (rest !== undefined) {
    // Asked anew: nodes that were only just reached have their time.
    const left = means.leaveTimes.timeOf(key, object.metadata);
    if (left.leftMs > 0) {
      return waiting(rest, left, TENANT_LEFT);
    }
    const note = `gave up after ${secondsText(left)}: ${rest.because}. What Snicket made in the tenant stays there: DaemonSet kube-system/snicket-proxy and its Secret, ConfigMap and ServiceAccount, and the endpoints of Service default/kubernetes`;
    const reason = 'TenantLeftBehind';
    events.record(object, { type: 'Warning', action: 'Leave', reason, note });
    log.error('a tenant was left as it is', { exposure: key, because: rest.because });
  }
  if (finalizers.includes(PREPARATION_FINALIZER) && unrestored === undefined) {
    await tellWhatIsLeft(object, means, signal);
  }
  await routing.withdraw(object, signal);
  links.forget(key);
  const { client } = management;
  // Restoring the control plane removes the record, and so gives the Exposure a new version.
  let latest = versions.latest(object);
  for (const finalizer of [TENANT_FINALIZER, PREPARATION_FINALIZER, ROUTES_FINALIZER]) {
    const left = await removeFinalizer(client, RESOURCES.exposure, latest, finalizer, { signal });
    if (left === undefined) break;
    if (left !== latest) versions.wrote(latest, left);
    latest = left;
  }
  return undefined;
}

/** It is good to know, and keeps nobody from leaving. */
async function tellWhatIsLeft(
  object: KubeObject,
  means: LeaveMeans,
  signal: AbortSignal,
): Promise<void> {
  try {
    await tellLeftHosts(object, means, signal);
  } catch (error) {
    if (!isKubeError(error) || signal.aborted) throw error;
    const exposure = keyText(object.metadata);
    means.log.warn('who still has the host of an edge is not known', { exposure, error });
  }
}

/** What the management cluster refuses keeps an Exposure for a bounded time only, as all else does. */
async function orFault(
  take: () => Promise<Blocked | undefined>,
  signal: AbortSignal,
): Promise<Blocked | undefined> {
  try {
    return await take();
  } catch (error) {
    if (!isKubeError(error) || signal.aborted) throw error;
    const finding = managementFault(error);
    return { because: findingText(finding), finding };
  }
}

function waiting(
  { because, finding }: Blocked,
  { leftMs, givesUpAt }: LeaveTime,
  consequence: string,
): Leaving {
  const at = `${givesUpAt.toISOString().slice(0, 19)}Z`;
  return {
    because: `${because}. At ${at} Snicket gives up and ${consequence}`,
    finding,
    requeueAfterMs: Math.min(AGAIN_MS, leftMs + 1),
  };
}

function secondsText({ waitedMs }: LeaveTime): string {
  return `${Math.round(waitedMs / 1000)} s`;
}

/** Restores the objects of the provider; says what prevents that. @throws KubeError */
async function restoreProvided(
  exposure: KubeObject,
  { management, versions }: LeaveMeans,
  { isHalfOver: isLate }: LeaveTime,
  signal: AbortSignal,
): Promise<Blocked | undefined> {
  const { client, served } = management;
  const objects = presentObjects(management, signal);
  const servedAs = (resource: Resource) => servedVersion(resource, served) ?? resource;
  const wrote: ExposureVersions['wrote'] = (before, after) => versions.wrote(before, after);
  const because = await restore(client, { exposure, servedAs, objects, isLate, wrote }, signal);
  return because === undefined ? undefined : { because };
}
