/**
 * Taking an Exposure away: both sides as they were, then the finalizers.
 *
 * First the objects of its provider, whose API servers then keep their endpoints themselves again. The tenant comes next,
 * while its nodes still reach their API by the route. A tenant that cannot be reached holds this up for a bounded time
 * only; what stays behind in it then is said in an event.
 */
import type { Applier } from '../../kube/apply.ts';
import type { EventRecorder } from '../../kube/events.ts';
import { removeFinalizer } from '../../kube/finalizer.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import { keyText, objectText, type KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import type { ControlPlaneObjects } from '../../providers/control-plane-reading.ts';
import { providerFor } from '../../providers/provider-for.ts';
import { servedVersion } from '../../providers/provider-resources.ts';
import { readControlPlane } from '../../providers/read-control-plane.ts';
import type { Logger } from '../../telemetry/log.ts';
import {
  isRolledOut,
  placedProxies,
  type DaemonSetWithStatus,
} from '../../tenant/proxy-addresses.ts';
import { leavingObjects } from '../../tenant/tenant-objects.ts';
import { heldBy } from '../../plan/ownership.ts';
import type { Exposure } from '../../api/exposure.ts';
import { findingText } from '../../api/finding.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { controlPlaneObjects } from '../look.ts';
import type { ManagementCluster } from '../management/management-cluster.ts';
import { managementFault } from '../management/management-fault.ts';
import type { ExposureBook, Found } from '../management/exposure-book.ts';
import { holderOf } from '../preparation/exposure-preparation.ts';
import { restore } from '../preparation/restore.ts';
import { readTenantFacts } from '../tenant/tenant-facts.ts';
import { tenantFault } from '../tenant/tenant-fault.ts';
import type { TenantLink } from '../tenant/tenant-link.ts';
import type { TenantLinks } from '../tenant/tenant-links.ts';
import { isOurs, leads, otherHolder, readTenantSide, remove } from '../tenant/tenant-side.ts';
import { PREPARATION_FINALIZER, ROUTES_FINALIZER, TENANT_FINALIZER } from './finalizers.ts';
import type { LeaveTime, LeaveTimes } from './leave-times.ts';
import type { Routing } from './routing.ts';

/** What it takes. */
export interface LeaveMeans {
  readonly management: ManagementCluster;
  readonly routing: Routing;
  readonly links: TenantLinks;
  readonly applierFor: (link: TenantLink) => Applier;
  readonly events: EventRecorder;
  readonly log: Logger;
  readonly proxyImage: string;
  readonly leaveTimeoutMs: number;
  readonly leaveTimes: LeaveTimes;
  /** Of one look at the tenant. */
  readonly tenantTimeoutMs: number;
}

const AGAIN_MS = 3_000;

/** What an Exposure that leaves waits for, and when to go on. */
export interface Leaving {
  readonly because: string;
  readonly lookAgainMs: number;
}

/** One step of leaving; undefined if it is done. @throws KubeError of the management cluster */
export async function leave(
  object: KubeObject,
  means: LeaveMeans,
  signal: AbortSignal,
): Promise<Leaving | undefined> {
  const { management, routing, links, events, log } = means;
  const key = keyText(object.metadata);
  const { finalizers = [] } = object.metadata;
  const time = means.leaveTimes.timeOf(key);
  const unrestored = finalizers.includes(PREPARATION_FINALIZER)
    ? await orFault(async () => restoreProvided(object, means, time, signal), signal)
    : undefined;
  if (unrestored !== undefined) {
    if (time.leftMs > 0) {
      return waiting(unrestored, time, 'leaves what it wrote into the control plane there');
    }
    const note = `gave up after ${secondsText(time)}: ${unrestored}. What Snicket wrote into the control plane stays there`;
    const reason = 'ControlPlaneLeftPrepared';
    events.record(object, { type: 'Warning', action: 'Leave', reason, note });
    log.error('a control plane was left as it is', { exposure: key, because: unrestored });
  }
  const rest = finalizers.includes(TENANT_FINALIZER)
    ? await orFault(async () => leaveTenant(object, means, time, signal), signal)
    : undefined;
  if (rest !== undefined) {
    // Asked anew: nodes that were only just reached have their time.
    const left = means.leaveTimes.timeOf(key);
    if (left.leftMs > 0) {
      return waiting(rest, left, `leaves DaemonSet ${keyText(PROXY)} and what belongs to it there`);
    }
    const note = `gave up after ${secondsText(left)}: ${rest}. What Snicket made in the tenant stays there: DaemonSet kube-system/snicket-proxy and its Secret, ConfigMap and ServiceAccount, and the endpoints of Service default/kubernetes`;
    const reason = 'TenantLeftBehind';
    events.record(object, { type: 'Warning', action: 'Leave', reason, note });
    log.error('a tenant was left as it is', { exposure: key, because: rest });
  }
  await routing.withdraw(object, signal);
  links.forget(key);
  let held: KubeObject | undefined = object;
  for (const finalizer of [TENANT_FINALIZER, PREPARATION_FINALIZER, ROUTES_FINALIZER]) {
    if (held === undefined) break;
    held = await removeFinalizer(management.client, RESOURCES.exposure, held, finalizer, {
      signal,
    });
  }
  return undefined;
}

/** What the management cluster refuses keeps an Exposure for a bounded time only, as all else does. */
async function orFault(
  take: () => Promise<string | undefined>,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return await take();
  } catch (error) {
    if (!isKubeError(error) || signal.aborted) throw error;
    return findingText(managementFault(error));
  }
}

function waiting(what: string, { leftMs, givesUpAt }: LeaveTime, consequence: string): Leaving {
  const at = `${givesUpAt.toISOString().slice(0, 19)}Z`;
  return {
    because: `${what}. At ${at} Snicket gives up and ${consequence}`,
    lookAgainMs: Math.min(AGAIN_MS, leftMs + 1),
  };
}

function secondsText({ waitedMs }: LeaveTime): string {
  return `${Math.round(waitedMs / 1000)} s`;
}

/** Puts the objects of the provider back; says what keeps that from being done. @throws KubeError */
async function restoreProvided(
  object: KubeObject,
  { management, leaveTimeoutMs }: LeaveMeans,
  { waitedMs }: LeaveTime,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { value: exposure, finding } = readable(object, management.book);
  if (exposure === undefined) return finding.message;
  const objects = presentObjects(management, signal);
  const { provided } = await readControlPlane(exposure, objects);
  if (provided === undefined) return undefined; // nothing is there to be put back
  const holder = holderOf(exposure, management.book);
  const isLate = waitedMs > leaveTimeoutMs / 2;
  return restore(management.client, { provided, holder, objects, isLate }, signal);
}

/** What the server has now: a watch that has just begun knows of nothing, and what was written would stay for ever. */
function presentObjects(management: ManagementCluster, signal: AbortSignal): ControlPlaneObjects {
  return {
    ...controlPlaneObjects(management, signal),
    object: async (resource, key) =>
      management.client.get(servedVersion(resource, management.served) ?? resource, key, {
        signal,
      }),
  };
}

/** A control plane that its provider has deleted is no tenant any more. */
async function isGone(
  { metadata, spec }: Exposure,
  { object }: ControlPlaneObjects,
): Promise<boolean> {
  const { ref } = spec.controlPlane;
  const provider = ref && providerFor(ref);
  if (ref === undefined || provider === undefined) return false;
  const { namespace } = metadata;
  return (await object?.(provider.resource, { name: ref.name, namespace })) === undefined;
}

/** Cleans up in the tenant; says what keeps it from being done. */
async function leaveTenant(
  object: KubeObject,
  means: LeaveMeans,
  time: LeaveTime,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { management, links } = means;
  const { value: exposure, finding } = readable(object, management.book);
  if (exposure === undefined) return finding.message;
  const objects = presentObjects(management, signal);
  if (await isGone(exposure, objects)) return undefined;
  const { kubeconfig, addresses, findings } = await readControlPlane(exposure, objects);
  const key = keyText(object.metadata);
  // A namespace that is deleted loses its Secrets at once; the way that is open stays open.
  const link =
    kubeconfig === undefined
      ? links.current(key)
      : links.open(key, { kubeconfig, addresses, watchesNodes: false });
  if (link === undefined) {
    return findings[0] === undefined ? 'there is no kubeconfig' : findingText(findings[0]);
  }
  if ('code' in link) return findingText(link);
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(means.tenantTimeoutMs)]);
  try {
    return await cleanUp(exposure, link, means, time, inTime);
  } catch (error) {
    // Whatever it is: a tenant must not keep its Exposure for ever.
    if (signal.aborted) throw error;
    links.failed(key);
    const fault = findingText(tenantFault(link, error, inTime));
    const known = inTime.aborted ? knownFault(object) : undefined;
    return known === undefined ? fault : `${fault}. Before it was to leave: ${known}`;
  }
}

/** First the endpoints, so that nobody is led to a proxy that goes; then the proxies with their address; then the rest. */
async function cleanUp(
  exposure: Exposure,
  link: TenantLink,
  means: LeaveMeans,
  time: LeaveTime,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { book } = means.management;
  const all = await readTenantSide(link, signal);
  const isTaken = otherHolder(all, keyText(exposure.metadata), (key) => book.has(key));
  if (isTaken !== undefined) return undefined; // nothing there is of this Exposure
  const live = all.filter(isOurs);
  await remove(link, live.filter(leads), signal);
  const { daemonSet } = link;
  if (daemonSet !== undefined && isOurs(daemonSet)) {
    const tenant = await readTenantFacts(link, { clusterDomain: 'cluster.local', signal });
    const { worker } = exposure.spec;
    const placed = placedProxies(daemonSet);
    const leaving = leavingObjects({ worker, tenant, placed, image: means.proxyImage });
    for (const desired of heldBy(exposure, leaving)) {
      const isSame = ({ kind, metadata }: KubeObject) =>
        kind === desired.kind && metadata.name === desired.metadata.name;
      await means
        .applierFor(link)
        .applyIfNeeded(desired, live.find(isSame), { force: true, signal });
    }
    if (leaving.length > 0 && !haveLeft(daemonSet)) {
      if (!time.addressIsLate()) {
        const seconds = Math.round(means.leaveTimeoutMs / 2000);
        return `the virtual address is being taken off the nodes, which have ${seconds} s for it`;
      }
      tellAddressLeft(exposure, daemonSet, means);
    }
  }
  await remove(link, live, signal);
  const strangers = all.filter((one) => !isOurs(one) && !leads(one));
  if (strangers.length > 0) tellStrangers(exposure, strangers, means);
  return undefined;
}

/** They may be ours, if somebody has taken away all that tells. */
function tellStrangers(
  exposure: Exposure,
  strangers: readonly KubeObject[],
  { events }: LeaveMeans,
): void {
  const names = strangers.map(objectText).join(', ');
  const note = `what has a name of Snicket's in the tenant and does not say that Snicket made it stays there: ${names}`;
  events.record(exposure, { type: 'Warning', action: 'Leave', reason: 'TenantLeftBehind', note });
}

function tellAddressLeft(
  exposure: Exposure,
  { status }: DaemonSetWithStatus,
  { events, log }: LeaveMeans,
): void {
  const { updatedNumberScheduled: done = 0, desiredNumberScheduled: all = 0 } = status ?? {};
  const note = `the virtual address could not be taken off every node in time: ${done} of ${all} have run the pod that does. It goes with the next restart of a node, or by hand: ip address del on lo`;
  events.record(exposure, { type: 'Warning', action: 'Leave', reason: 'AddressLeftBehind', note });
  log.error('a virtual address was left on nodes', { exposure: keyText(exposure.metadata) });
}

/** What was wrong with the tenant when it was last looked at. */
function knownFault(object: KubeObject): string | undefined {
  const { conditions = [] } = (object as Partial<Exposure>).status ?? {};
  return conditions.find(({ type, status }) => type === 'TenantReady' && status === 'False')
    ?.message;
}

/** Whether every node has run the pod that takes the address off. */
function haveLeft(daemonSet: DaemonSetWithStatus): boolean {
  const isLeaving = daemonSet.spec.template.spec.containers[0]?.name === 'leaving';
  return isLeaving && isRolledOut(daemonSet);
}

/** To leave, it is enough to know the control plane: the rest of a wish may be such as nobody understands any more. */
function readable(object: KubeObject, book: ExposureBook): Found<Exposure> {
  const found = book.exposureIn(object);
  if (found.value !== undefined) return found;
  const { controlPlane } = (object as Partial<Exposure>).spec ?? {};
  const bare = { ...object, spec: { controlPlane } };
  const least = book.exposureIn(bare);
  return least.value === undefined ? found : least;
}
