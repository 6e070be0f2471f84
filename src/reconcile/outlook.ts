/**
 * What the operator would do about one Exposure, in both clusters, without doing it: GETs alone.
 */
import type { Exposure, ExposureStatus } from '../api/exposure.ts';
import { systemClock, type Clock } from '../clock/clock.ts';
import { formerRoutes } from '../edges/former-routes.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { KubeError } from '../kube/kube-error.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Finding } from '../api/finding.ts';
import type { Plan } from '../plan/plan.ts';
import {
  readControlPlane,
  type ControlPlaneReading,
} from '../providers/reading/read-control-plane.ts';
import { isInUse } from './conditions/management-conditions.ts';
import {
  madeFor,
  nameTaken,
  previousHosts,
  routeChanges,
  type RouteChanges,
} from './routes/route-changes.ts';
import { routeFindings } from '../management/edge-state.ts';
import { observeExposure, observeTenant, type Observation, type Viewpoint } from './observe.ts';
import { controlPlaneObjects } from '../management/control-plane-objects.ts';
import type { ResolvedExposure } from '../management/exposure-book.ts';
import { foreseenChart, type ForeseenChart } from './preparation/chart-values.ts';
import {
  foreseenPreparation,
  foreseenRestoration,
  type ForeseenPreparation,
} from './preparation/foreseen-preparation.ts';
import { foreseenCredentials } from './tenant/foreseen-credentials.ts';
import { reachTenant, type EdgeWay } from './tenant/connect-to-tenant.ts';
import { TenantNotInitialised } from './tenant/tenant-facts.ts';
import { tenantFault } from './tenant/tenant-fault.ts';
import { TenantSnapshot } from './tenant/link/tenant-snapshot.ts';
import { readOwnership, type ReadOwnership } from './tenant/ownership/read-ownership.ts';
import { isOurs, readTenantSide, tenantChanges, type TenantChanges } from './tenant/tenant-side.ts';

/** An object as it should be, and as it is; nothing if it is not there. */
export interface WantedObject {
  readonly desired: KubeObject;
  readonly live: KubeObject | undefined;
  /** That it is to be applied later. */
  readonly waits?: boolean;
}

/** What to do in one cluster. What is as it should be is among the wanted ones too. */
export interface ClusterOutlook {
  readonly wanted: readonly WantedObject[];
  readonly superfluous: readonly KubeObject[];
}

/** What would be done. */
export interface Outlook {
  /** The Exposure. */
  readonly object: KubeObject;
  /** Absent: it cannot be read. */
  readonly wish?: ResolvedExposure | undefined;
  /** What the plan rests on; absent without a wish, and for one that is being deleted. */
  readonly look?: Observation | undefined;
  /** Absent: it is being deleted, or cannot be read. */
  readonly plan?: Plan | undefined;
  /** The objects of its provider; absent without one. */
  readonly preparation?: ForeseenPreparation | undefined;
  /** The values of its chart; absent for a control plane that belongs to no ClusterDeployment of k0rdent. */
  readonly chart?: ForeseenChart | undefined;
  /** Absent: that cannot be told now, and nothing is changed. */
  readonly management?: (ClusterOutlook & Partial<Pick<RouteChanges, 'previous'>>) | undefined;
  /** The same of the tenant. */
  readonly tenant?: ClusterOutlook | undefined;
  /** Absent: the tenant was not asked, or did not answer. */
  readonly asked?: AskedTenant | undefined;
  /** Whether routes are as planned then. If not, those from before stay. */
  readonly isRouted: boolean;
  /** What a person has to know; `error`: not all of it can be carried out. */
  readonly findings: readonly Finding[];
  /** Why a certificate or a key would be made anew. */
  readonly reissued?: string | undefined;
}

/** A tenant that has answered. */
export interface AskedTenant {
  readonly client: KubeClient;
  /** Everything in it that has a name of ours, ours or not. */
  readonly live: readonly KubeObject[];
}

/** Options of {@link outlookOf}. */
export interface OutlookOptions {
  /** Default true; else nothing is said of the tenant's side. */
  readonly asksTenant?: boolean;
}

/** Of one look at a tenant: one that hangs must not hold up the others. */
const LOOK_MS = 20_000;

/** The outlook of one Exposure. @throws KubeError of the management cluster */
export async function outlookOf(
  object: KubeObject,
  viewpoint: Viewpoint,
  signal: AbortSignal,
  { asksTenant = true }: OutlookOptions = {},
): Promise<Outlook> {
  const { management } = viewpoint;
  if (object.metadata.deletionTimestamp !== undefined) {
    return leaving(object, viewpoint, asksTenant, signal);
  }
  const { value: wish, finding } = management.book.resolve(object);
  if (wish === undefined) return { object, isRouted: false, findings: [finding] };
  const look = await observeExposure(object, wish, viewpoint, signal);
  const { routes } = look.plan;
  const provided = await providedOutlook(object, look, viewpoint, signal);
  const changes = await routeChanges(viewpoint, object, wish.edge, look.plan, signal);
  // What is in use stays as it is until the Edge that is wished for takes routes.
  const isMoving = changes?.isBlocked === true && changes.isElsewhere;
  const former = formerRoutes(changes?.superfluous ?? [], wish.edge);
  const routed = {
    former,
    previous: changes?.previous ?? [],
    isRoutedAsPlanned: changes?.isRoutedAsPlanned === true,
  };
  const isPrepared = provided.preparation?.isPrepared !== false || isInUse(object, look, routed);
  const tenant =
    routes === undefined || isMoving || !asksTenant || !isPrepared
      ? undefined
      : await tenantOf(look, viewpoint, signal);
  const plan = tenant?.plan ?? look.plan;
  return {
    ...{ object, wish, look, plan, ...provided, management: changes, tenant: tenant?.changes },
    asked: tenant?.asked,
    isRouted: changes !== undefined && !isMoving,
    findings: [
      ...plan.findings,
      ...(wish.warning === undefined ? [] : [wish.warning]),
      ...(provided.preparation?.findings ?? []),
      ...look.reading.findings,
      ...(changes?.taken === undefined ? [] : [nameTaken(changes.taken)]),
      ...routeFindings(viewpoint, object, plan, wish.edge),
      ...(tenant?.findings ?? []),
    ],
    reissued: tenant?.reissued,
  };
}

/** What is to be written into the objects of its provider, once the wish can be met. @throws KubeError */
export async function providedOutlook(
  object: KubeObject,
  { wish, plan, reading: { provided } }: Observation,
  { management }: Viewpoint,
  signal: AbortSignal,
): Promise<Pick<Outlook, 'preparation' | 'chart'>> {
  const { hosts } = plan;
  const isRefused = plan.findings.some(
    ({ about, severity }) => about === 'wish' && severity === 'error',
  );
  if (provided === undefined || hosts === undefined || isRefused) return {};
  const { port } = wish.edge.spec;
  return {
    preparation: foreseenPreparation(object, wish, hosts, provided, {
      management,
      previousHosts: previousHosts(management, object, hosts),
    }),
    chart: await foreseenChart(provided, { hosts, port }, controlPlaneObjects(management, signal)),
  };
}

function statusOf(object: KubeObject): ExposureStatus | undefined {
  return (object as Partial<Exposure>).status;
}

interface TenantOutlook {
  readonly plan?: Plan;
  readonly changes?: ClusterOutlook | undefined;
  readonly asked?: AskedTenant;
  readonly findings: readonly Finding[];
  readonly reissued?: string | undefined;
}

async function tenantOf(
  look: Observation,
  viewpoint: Viewpoint,
  signal: AbortSignal,
): Promise<TenantOutlook> {
  const { clock = systemClock } = viewpoint;
  // Said by what could not be read.
  if (look.reading.kubeconfig === undefined && look.reading.findings.length > 0) {
    return { findings: [] };
  }
  const credentials = await foreseenCredentials(viewpoint, look.plan.mode, signal);
  const readsNodes = look.wish.exposure.spec.worker.address === 'Node';
  const edge = { endpoint: look.plan.endpoint, addresses: look.facts.edgeAddresses };
  return withTenant({ ...look, edge, readsNodes, clock }, signal, async (view, inTime) => {
    const { exposure } = look.wish;
    const ownership = await readOwnership(view.reader, exposure, viewpoint, inTime);
    const { plan, live, finding, reissued } = await observeTenant(
      look,
      view,
      credentials,
      inTime,
      clock,
    );
    const changes = plan.tenant && ownedChanges(ownership, tenantChanges(plan.tenant, live));
    const findings = [ownership.finding, finding, changes?.obstacle].flatMap((one) => one ?? []);
    return {
      plan: { ...plan, tenant: plan.tenant && [ownership.lease.desired, ...plan.tenant] },
      changes,
      asked: { client: view.reader, live },
      findings,
      reissued,
    };
  });
}

/** The changes of an owner, its Lease first; none for an Exposure that does not own the tenant. */
function ownedChanges(
  { finding, isHeld, lease }: ReadOwnership,
  changes: TenantChanges,
): TenantChanges {
  if (changes.obstacle !== undefined || isHeld) return changes;
  if (finding !== undefined) return { wanted: [], superfluous: [] };
  return { ...changes, wanted: [{ ...lease, waits: false }, ...changes.wanted] };
}

/** Both clusters as they were before. */
async function leaving(
  object: KubeObject,
  viewpoint: Viewpoint,
  asksTenant: boolean,
  signal: AbortSignal,
): Promise<Outlook> {
  const { management } = viewpoint;
  const made = { wanted: [], superfluous: madeFor(viewpoint, object) };
  const { value: exposure, finding } = management.book.exposureIn(object);
  if (exposure === undefined) {
    return { object, isRouted: false, management: made, findings: [finding] };
  }
  const reading = await readControlPlane(exposure, controlPlaneObjects(management, signal));
  const { provided } = reading;
  const restored = provided && foreseenRestoration(provided, object);
  const preparation = restored && { plans: [], isPrepared: false, ...restored };
  const known = { object, isRouted: false, preparation, management: made };
  const unrestored = restored?.findings ?? [];
  if (!asksTenant) return { ...known, findings: unrestored };
  const edge = { endpoint: statusOf(object)?.endpoint, addresses: [] };
  const { clock = systemClock } = viewpoint;
  const way = { reading, edge, readsNodes: false, clock };
  const tenant = await withTenant(way, signal, async (view, inTime) => {
    const { canCleanUp, lease } = await readOwnership(view.reader, object, viewpoint, inTime);
    if (!canCleanUp) return { changes: { wanted: [], superfluous: [] }, findings: [] };
    const live = await readTenantSide(view, inTime);
    const owned = lease.live === undefined ? [] : [lease.live];
    return {
      changes: { wanted: [], superfluous: [...live.filter(isOurs), ...owned] },
      findings: [],
    };
  });
  const { changes, findings } = tenant;
  return {
    ...{ ...known, tenant: changes },
    findings: [...unrestored, ...reading.findings, ...findings],
  };
}

interface TenantWay {
  readonly reading: ControlPlaneReading;
  readonly edge: EdgeWay;
  readonly readsNodes: boolean;
  readonly clock: Clock;
}

/** Works with a tenant; what is wrong with it is a finding. */
async function withTenant(
  { reading, edge, readsNodes, clock }: TenantWay,
  signal: AbortSignal,
  work: (view: TenantSnapshot, signal: AbortSignal) => Promise<TenantOutlook>,
): Promise<TenantOutlook> {
  const inTime = AbortSignal.any([signal, clock.timeoutSignal(LOOK_MS)]);
  const client = await reachTenant(reading, edge, inTime);
  if ('code' in client) return { findings: [client] };
  try {
    return await work(new TenantSnapshot(client, readsNodes), inTime);
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof TenantNotInitialised) {
      const action = 'wait a few seconds';
      const { message } = error;
      return { findings: [{ code: 'TenantNotInitialised', severity: 'error', message, action }] };
    }
    if (!(error instanceof KubeError)) throw error;
    return { findings: [tenantFault({ client }, error, inTime)] };
  }
}
