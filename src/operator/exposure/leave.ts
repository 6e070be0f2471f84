/**
 * Taking an Exposure away: both sides as they were, then the finalizer.
 *
 * The tenant comes first, while its nodes still reach their API by the route. A tenant that cannot be reached holds this
 * up for a bounded time only; what stays behind in it then is said in an event.
 */
import type { Applier } from '../../kube/apply.ts';
import type { EventRecorder } from '../../kube/events.ts';
import { removeFinalizer } from '../../kube/finalizer.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
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
import { controlPlaneObjects } from '../look.ts';
import type { ManagementCluster } from '../management/management-cluster.ts';
import type { ExposureBook, Found } from '../management/exposure-book.ts';
import { readTenantFacts } from '../tenant/tenant-facts.ts';
import { tenantFault } from '../tenant/tenant-fault.ts';
import type { TenantLink } from '../tenant/tenant-link.ts';
import type { TenantLinks } from '../tenant/tenant-links.ts';
import { isOurs, leads, otherHolder, readTenantSide, remove } from '../tenant/tenant-side.ts';
import { ROUTES_FINALIZER, TENANT_FINALIZER } from './finalizers.ts';
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
  const waitedMs = Date.now() - Date.parse(object.metadata.deletionTimestamp ?? '');
  const rest = finalizers.includes(TENANT_FINALIZER)
    ? await leaveTenant(object, means, waitedMs, signal)
    : undefined;
  if (rest !== undefined) {
    if (waitedMs < means.leaveTimeoutMs) {
      const leftMs = means.leaveTimeoutMs - waitedMs + 1;
      return { because: rest, lookAgainMs: Math.min(AGAIN_MS, leftMs) };
    }
    const seconds = Math.round(waitedMs / 1000);
    const note = `gave up after ${seconds} s: ${rest}. What Snicket made in the tenant stays there: DaemonSet kube-system/snicket-proxy and its Secret, ConfigMap and ServiceAccount, and the endpoints of Service default/kubernetes`;
    const reason = 'TenantLeftBehind';
    events.record(object, { type: 'Warning', action: 'Leave', reason, note });
    log.error('a tenant was left as it is', { exposure: key, because: rest });
  }
  await routing.withdraw(object, signal);
  links.forget(key);
  let held: KubeObject | undefined = object;
  for (const finalizer of [TENANT_FINALIZER, ROUTES_FINALIZER]) {
    if (held === undefined) break;
    held = await removeFinalizer(management.client, RESOURCES.exposure, held, finalizer, {
      signal,
    });
  }
  return undefined;
}

/** Cleans up in the tenant; says what keeps it from being done. */
async function leaveTenant(
  object: KubeObject,
  means: LeaveMeans,
  waitedMs: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { management, links } = means;
  const { value: exposure, finding } = readable(object, management.book);
  if (exposure === undefined) return finding.message;
  const { kubeconfig, addresses, findings } = await readControlPlane(
    ...([exposure, controlPlaneObjects(management, signal)] as const),
  );
  const key = keyText(object.metadata);
  // A namespace that is deleted loses its Secrets at once; the way that is open stays open.
  const link =
    kubeconfig === undefined
      ? links.current(key)
      : links.open(key, { kubeconfig, addresses, watchesNodes: false });
  if (link === undefined) return findings[0]?.message ?? 'there is no kubeconfig';
  if ('code' in link) return link.message;
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(means.tenantTimeoutMs)]);
  try {
    return await cleanUp(exposure, link, means, waitedMs, inTime);
  } catch (error) {
    // Whatever it is: a tenant must not keep its Exposure for ever.
    if (signal.aborted) throw error;
    links.failed(key);
    return tenantFault(link, error, inTime).message;
  }
}

/** First the endpoints, so that nobody is led to a proxy that goes; then the proxies with their address; then the rest. */
async function cleanUp(
  exposure: Exposure,
  link: TenantLink,
  means: LeaveMeans,
  waitedMs: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { book } = means.management;
  const all = await readTenantSide(link, signal);
  const isTaken = otherHolder(all, keyText(exposure.metadata), (key) => book.has(key));
  if (isTaken !== undefined) return undefined; // nothing there is of this Exposure
  const live = all.filter(isOurs);
  await remove(link, live.filter(leads), signal);
  const { daemonSet } = link;
  if (daemonSet !== undefined && isOurs(daemonSet) && waitedMs < means.leaveTimeoutMs / 2) {
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
      return 'the virtual address is being taken off the nodes';
    }
  }
  await remove(link, live, signal);
  return undefined;
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
