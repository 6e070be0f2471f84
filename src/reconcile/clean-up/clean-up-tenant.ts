/**
 * The tenant's part of a cleanup: removes the endpoints, then the proxies with their virtual address, then the rest.
 */
import type { Exposure } from '../../api/exposure.ts';
import { findingText, type Finding } from '../../api/finding.ts';
import { findCondition } from '../../kube/conditions.ts';
import type { KubeError } from '../../kube/kube-error.ts';
import { keyText, objectText, type Condition, type KubeObject } from '../../kube/object.ts';
import { proxiesIn } from '../../plan/ownership.ts';
import type { ControlPlaneObjects } from '../../providers/reading/control-plane-reading.ts';
import { providerForReference } from '../../providers/provider-for.ts';
import { readControlPlane } from '../../providers/reading/read-control-plane.ts';
import {
  isRolledOut,
  proxyCounts,
  proxyState,
  type DaemonSetWithStatus,
} from '../../tenant/proxy-addresses.ts';
import { OWNER_LEASE, ownerText } from '../../tenant/owner-lease.ts';
import { cleanupObjects } from '../../tenant/tenant-objects.ts';
import type { ReconcileDeps } from '../reconcile-deps.ts';
import { readTenantFacts } from '../tenant/tenant-facts.ts';
import { tenantFault, UNREACHABLE } from '../tenant/tenant-fault.ts';
import type { TenantLink } from '../tenant/link/tenant-link.ts';
import {
  isManaged,
  isEndpoints,
  readTenantSide,
  remove,
  withCurrentProxies,
} from '../tenant/tenant-side.ts';
import type { CleanupTime } from './cleanup-deadline.ts';
import { cleanupWarning } from './cleanup-warning.ts';
import { currentObjects, deletedExposure } from './current-control-plane.ts';

/** Whether the provider's object is deleted: then there is no tenant to clean up. */
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
  code: 'SecretMissing',
  severity: 'error',
  message: 'The tenant has no kubeconfig.',
  action: 'Set spec.controlPlane.kubeconfigSecretRef.',
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
  deps: ReconcileDeps,
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
  // A deleted namespace loses its Secrets at once. An open link stays usable.
  const boundedSignal = AbortSignal.any([signal, deps.clock.timeoutSignal(deps.tenantTimeoutMs)]);
  const { endpoint } = (object as Partial<Exposure>).status ?? {};
  const address = { addresses, endpoint, watchesNodes: false };
  const link =
    kubeconfig === undefined
      ? links.current(key)
      : await links.open(key, { ...address, kubeconfig }, boundedSignal);
  if (link === undefined) {
    const missing = findings.find(({ severity }) => severity === 'error') ?? NO_KUBECONFIG;
    return blockedBy(missing, missing === NO_KUBECONFIG ? missing.message : undefined);
  }
  if ('code' in link) return blockedBy(link);
  try {
    return await cleanUp(exposure, link, deps, time, boundedSignal);
  } catch (error) {
    // Any error: a tenant must not block the deletion of its Exposure.
    if (signal.aborted) throw error;
    links.failed(key);
    const fault = tenantFault(link, error, boundedSignal);
    const known = boundedSignal.aborted ? previousFault(object) : undefined;
    const because = findingText(fault);
    return blockedBy(
      fault,
      known === undefined ? because : `${because} Before the deletion: ${known}`,
    );
  }
}

/** Removes the endpoints first, so that clients do not use a proxy that stops; then the proxies and their address; the Lease last. */
async function cleanUp(
  exposure: Exposure,
  link: TenantLink,
  deps: ReconcileDeps,
  time: CleanupTime,
  signal: AbortSignal,
): Promise<Blocked | undefined> {
  const key = keyText(exposure.metadata);
  const { ownership, events, log } = deps;
  // The objects in the tenant belong to the current owner of the Lease, expired or not.
  const acquired = { confirm: true, takesOver: false };
  const owned = await ownership.acquire(key, link.leaseClient, acquired, signal);
  if (owned.kind === 'Elsewhere') {
    const note = `Nothing was removed from the tenant because its Lease ${keyText(OWNER_LEASE)} names another owner: ${ownerText(owned.holderIdentity)}.`;
    events.record(exposure, cleanupWarning('CleanupIncomplete', note));
  }
  if (owned.kind !== 'Owned') return undefined;
  const all = await withCurrentProxies(link, await readTenantSide(link, signal), signal);
  const daemonSet = proxiesIn(all) as DaemonSetWithStatus | undefined;
  const live = all.filter(isManaged);
  await remove(link, live.filter(isEndpoints), signal);
  let created: readonly KubeObject[] = [];
  if (daemonSet !== undefined && isManaged(daemonSet)) {
    const tenant = await readTenantFacts(link, { clusterDomain: 'cluster.local', signal });
    const { worker } = exposure.spec;
    const currentProxies = proxyState(daemonSet);
    const cleanup = cleanupObjects({ worker, tenant, currentProxies, image: deps.proxyImage });
    created = await applyCleanup(cleanup, all, link, signal);
    if (cleanup.length > 0 && !areAddressesRemoved(daemonSet)) {
      if (!time.addressIsLate()) {
        const seconds = Math.round(deps.cleanupTimeoutMs / 2000);
        const because = `The proxies are removing the virtual address from the nodes, for up to ${seconds} s.`;
        return { because };
      }
      events.record(exposure, cleanupWarning('CleanupIncomplete', remainingAddress(daemonSet)));
      log.error('virtual address not removed from every node', { exposure: key });
    }
  }
  await remove(link, [...created, ...live], signal);
  const foreign = all.filter((object) => !isManaged(object) && !isEndpoints(object));
  if (foreign.length > 0) {
    // The objects may be Snicket's, if another client has removed its labels and annotations.
    const note = `Left in place in the tenant because Snicket does not manage it: ${foreign.map(objectText).join(', ')}.`;
    events.record(exposure, cleanupWarning('CleanupIncomplete', note));
  }
  await ownership.release(key, link.leaseClient, signal);
  return undefined;
}

/** Applies the objects that remove the virtual address, and returns those that did not exist before. @throws KubeError */
async function applyCleanup(
  cleanup: readonly KubeObject[],
  all: readonly KubeObject[],
  link: TenantLink,
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  const created: KubeObject[] = [];
  for (const desired of cleanup) {
    const { apiVersion, kind } = desired;
    const present = all.find(
      (object) => object.kind === kind && object.metadata.name === desired.metadata.name,
    );
    if (present !== undefined && !isManaged(present)) continue;
    const { object } = await link.applier.applyIfNeeded(desired, present, { force: true, signal });
    if (present === undefined && object !== undefined)
      created.push({ ...object, apiVersion, kind });
  }
  return created;
}

function remainingAddress(daemonSet: DaemonSetWithStatus): string {
  const { updated, desired } = proxyCounts(daemonSet);
  return `The virtual address was removed from ${updated} of ${desired} nodes in time. On the others it disappears when the node restarts. To remove it now, run "ip address del" for interface lo on the node.`;
}

/** What was wrong with the tenant when it was last observed. */
function previousFault(object: KubeObject): string | undefined {
  return failedCondition(object)?.message;
}

/** Why the tenant did not answer when it was last observed; undefined if it did. */
export function unreachableReason(object: KubeObject): string | undefined {
  const broken = failedCondition(object);
  return broken?.reason === UNREACHABLE.code ? broken.message : undefined;
}

function failedCondition(object: KubeObject): Condition | undefined {
  const { conditions } = (object as Partial<Exposure>).status ?? {};
  const ready = findCondition(conditions, 'WorkersReady');
  return ready?.status === 'False' ? ready : undefined;
}

/** Whether every node has run the pod that removes the address. */
function areAddressesRemoved(daemonSet: DaemonSetWithStatus): boolean {
  const isCleanup = daemonSet.spec.template.spec.containers[0]?.name === 'cleanup';
  return isCleanup && isRolledOut(daemonSet);
}
