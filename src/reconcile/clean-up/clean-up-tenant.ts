/**
 * The tenant's part of a cleanup: removes the endpoints, then the proxies with their virtual address, then the rest.
 */
import type { Exposure } from '../../api/exposure.ts';
import { findingText, type Finding } from '../../api/finding.ts';
import type { Clock } from '../../clock/clock.ts';
import { findCondition } from '../../kube/conditions.ts';
import type { EventRecorder } from '../../kube/events/events.ts';
import type { KubeError } from '../../kube/kube-error.ts';
import { keyText, objectText, type Condition, type KubeObject } from '../../kube/object.ts';
import { proxiesIn } from '../../plan/ownership.ts';
import type { ControlPlaneObjects } from '../../providers/reading/control-plane-reading.ts';
import { providerForReference } from '../../providers/provider-for.ts';
import { readControlPlane } from '../../providers/reading/read-control-plane.ts';
import type { Logger } from '../../telemetry/log.ts';
import { isRolledOut, proxyState, type DaemonSetWithStatus } from '../../tenant/proxy-addresses.ts';
import { OWNER_LEASE, ownerText } from '../../tenant/owner-lease.ts';
import { cleanupObjects } from '../../tenant/tenant-objects.ts';
import type { ManagementAccess } from '../../management/management-view.ts';
import { readTenantFacts } from '../tenant/tenant-facts.ts';
import { tenantFault, UNREACHABLE } from '../tenant/tenant-fault.ts';
import type { TenantLink } from '../tenant/link/tenant-link.ts';
import type { TenantConnections } from '../tenant/link/tenant-links.ts';
import type { TenantOwnership } from '../tenant/ownership/tenant-ownership.ts';
import { isOurs, leads, readTenantSide, remove, withProxiesOfNow } from '../tenant/tenant-side.ts';
import type { CleanupTime } from './cleanup-deadline.ts';
import { currentObjects, deletedExposure } from './current-control-plane.ts';

/** What it reads and writes with. */
export interface TenantCleanupDeps {
  readonly management: ManagementAccess;
  readonly links: TenantConnections;
  readonly ownership: TenantOwnership;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly log: Logger;
  readonly proxyImage: string;
  readonly cleanupTimeoutMs: number;
  /** How long one attempt may take. */
  readonly tenantTimeoutMs: number;
  readonly clock: Clock;
}

/** A control plane that its provider has deleted is no tenant any more. */
async function isGone(
  { metadata, spec }: Exposure,
  { object }: ControlPlaneObjects,
): Promise<boolean> {
  const { objectRef } = spec.controlPlane;
  const provider = objectRef && providerForReference(objectRef);
  if (objectRef === undefined || provider === undefined) return false;
  const { namespace } = metadata;
  return (await object?.(provider.resource, { name: objectRef.name, namespace })) === undefined;
}

const NO_KUBECONFIG: Finding = {
  code: 'KubeconfigMissing',
  severity: 'error',
  message: 'there is no kubeconfig',
  action: 'write spec.controlPlane.kubeconfigSecretRef',
};

/** What keeps a cleanup from being finished. */
export interface Blocked {
  readonly because: string;
  /** Absent: it only takes time. */
  readonly finding?: Finding | undefined;
  /** The error of the management cluster that is the cause. Absent: another cause. */
  readonly fault?: KubeError | undefined;
}

function blockedBy(finding: Finding, because = findingText(finding)): Blocked {
  return { because, finding };
}

/** Cleans up in the tenant; returns what keeps that from being finished. */
export async function cleanUpTenant(
  object: KubeObject,
  deps: TenantCleanupDeps,
  time: CleanupTime,
  signal: AbortSignal,
): Promise<Blocked | undefined> {
  const { management, links } = deps;
  const { value: exposure, finding } = deletedExposure(object, management.exposureIndex);
  if (exposure === undefined) return blockedBy(finding, finding.message);
  const objects = currentObjects(management, signal);
  if (await isGone(exposure, objects)) return undefined;
  const { kubeconfig, addresses, findings } = await readControlPlane(exposure, objects);
  const key = keyText(object.metadata);
  // A namespace that is deleted loses its Secrets at once; the way that is open stays open.
  const inTime = AbortSignal.any([signal, deps.clock.timeoutSignal(deps.tenantTimeoutMs)]);
  const { endpoint } = (object as Partial<Exposure>).status ?? {};
  const address = { addresses, endpoint, watchesNodes: false };
  const link =
    kubeconfig === undefined
      ? links.current(key)
      : await links.open(key, { ...address, kubeconfig }, inTime);
  if (link === undefined) {
    const missing = findings.find(({ severity }) => severity === 'error') ?? NO_KUBECONFIG;
    return blockedBy(missing, missing === NO_KUBECONFIG ? missing.message : undefined);
  }
  if ('code' in link) return blockedBy(link);
  try {
    return await cleanUp(exposure, link, deps, time, inTime);
  } catch (error) {
    // Whatever it is: a tenant must not keep its Exposure for ever.
    if (signal.aborted) throw error;
    links.failed(key);
    const fault = tenantFault(link, error, inTime);
    const known = inTime.aborted ? knownFault(object) : undefined;
    const because = findingText(fault);
    return blockedBy(
      fault,
      known === undefined ? because : `${because}. Before it was to leave: ${known}`,
    );
  }
}

/** First the endpoints, so that nobody is led to a proxy that goes; then the proxies with their address; then the rest, the Lease last. */
async function cleanUp(
  exposure: Exposure,
  link: TenantLink,
  deps: TenantCleanupDeps,
  time: CleanupTime,
  signal: AbortSignal,
): Promise<Blocked | undefined> {
  const key = keyText(exposure.metadata);
  const { ownership } = deps;
  // What is in the tenant belongs to whoever has acquired its Lease since, expired or not.
  const acquired = { confirm: true, takesOver: false };
  const owned = await ownership.acquire(key, link.leaseClient, acquired, signal);
  if (owned.kind === 'Elsewhere') reportOtherOwner(exposure, owned.holderIdentity, deps);
  if (owned.kind !== 'Owned') return undefined;
  const all = await withProxiesOfNow(link, await readTenantSide(link, signal), signal);
  const daemonSet = proxiesIn(all) as DaemonSetWithStatus | undefined;
  const live = all.filter(isOurs);
  await remove(link, live.filter(leads), signal);
  const created: KubeObject[] = [];
  if (daemonSet !== undefined && isOurs(daemonSet)) {
    const tenant = await readTenantFacts(link, { clusterDomain: 'cluster.local', signal });
    const { worker } = exposure.spec;
    const currentProxies = proxyState(daemonSet);
    const leaving = cleanupObjects({ worker, tenant, currentProxies, image: deps.proxyImage });
    for (const desired of leaving) {
      const present = all.find(
        ({ kind, metadata }) => kind === desired.kind && metadata.name === desired.metadata.name,
      );
      if (present !== undefined && !isOurs(present)) continue;
      const options = { force: true, signal };
      const { object } = await link.applier.applyIfNeeded(desired, present, options);
      const { apiVersion, kind } = desired;
      if (present === undefined && object !== undefined) {
        created.push({ ...object, apiVersion, kind });
      }
    }
    if (leaving.length > 0 && !areAddressesRemoved(daemonSet)) {
      if (!time.addressIsLate()) {
        const seconds = Math.round(deps.cleanupTimeoutMs / 2000);
        const because = `the virtual address is being taken off the nodes, which have ${seconds} s for it`;
        return { because };
      }
      reportRemainingAddress(exposure, daemonSet, deps);
    }
  }
  await remove(link, [...created, ...live], signal);
  const foreign = all.filter((one) => !isOurs(one) && !leads(one));
  if (foreign.length > 0) reportForeign(exposure, foreign, deps);
  await ownership.release(key, link.leaseClient, signal);
  return undefined;
}

function reportOtherOwner(
  exposure: Exposure,
  holderIdentity: string,
  { events }: TenantCleanupDeps,
): void {
  const note = `Nothing was removed from the tenant because its Lease ${keyText(OWNER_LEASE)} names another owner: ${ownerText(holderIdentity)}.`;
  events.record(exposure, { type: 'Warning', action: 'Leave', reason: 'TenantLeftBehind', note });
}

/** They may be ours, if another client has removed everything that says so. */
function reportForeign(
  exposure: Exposure,
  foreign: readonly KubeObject[],
  { events }: TenantCleanupDeps,
): void {
  const names = foreign.map(objectText).join(', ');
  const note = `what has a name of Snicket's in the tenant and does not say that Snicket made it stays there: ${names}`;
  events.record(exposure, { type: 'Warning', action: 'Leave', reason: 'TenantLeftBehind', note });
}

function reportRemainingAddress(
  exposure: Exposure,
  { status }: DaemonSetWithStatus,
  { events, log }: TenantCleanupDeps,
): void {
  const { updatedNumberScheduled: done = 0, desiredNumberScheduled: all = 0 } = status ?? {};
  const note = `the virtual address could not be taken off every node in time: ${done} of ${all} have run the pod that does. It goes with the next restart of a node, or by hand: ip address del on lo`;
  events.record(exposure, { type: 'Warning', action: 'Leave', reason: 'AddressLeftBehind', note });
  log.error('virtual address not removed from every node', {
    exposure: keyText(exposure.metadata),
  });
}

/** What was wrong with the tenant when it was last looked at. */
function knownFault(object: KubeObject): string | undefined {
  return brokenTenant(object)?.message;
}

/** Why the tenant did not answer when it was last looked at; undefined if it did. */
export function silenceOf(object: KubeObject): string | undefined {
  const broken = brokenTenant(object);
  return broken?.reason === UNREACHABLE.code ? broken.message : undefined;
}

function brokenTenant(object: KubeObject): Condition | undefined {
  const { conditions } = (object as Partial<Exposure>).status ?? {};
  const ready = findCondition(conditions, 'WorkersReady');
  return ready?.status === 'False' ? ready : undefined;
}

/** Whether every node has run the pod that takes the address off. */
function areAddressesRemoved(daemonSet: DaemonSetWithStatus): boolean {
  const isLeaving = daemonSet.spec.template.spec.containers[0]?.name === 'leaving';
  return isLeaving && isRolledOut(daemonSet);
}
