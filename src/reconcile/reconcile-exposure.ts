/**
 * One run for one Exposure: look at what there is, route it, have its control plane prepared, bring its tenant about, and
 * say how far that is.
 */
import type { HopResult } from '../probe/hop.ts';
import type { KubeObject } from '../kube/object.ts';
import type { ControlPlaneReading } from '../providers/reading/read-control-plane.ts';
import type { DependencyIndex } from '../management/dependency-index.ts';
import { observeExposure, type Viewpoint } from './observe.ts';
import type { ManagementCluster } from '../operator/management/management-cluster.ts';
import { step, StepFailed } from './management-fault.ts';
import type { SecretPoller } from '../operator/management/secret-poller.ts';
import type { ProbeRounds } from '../operator/probe-rounds.ts';
import { reconcileTenant, type TenantMeans } from './tenant/reconcile-tenant.ts';
import type { TenantOutcome } from './tenant/tenant-outcome.ts';
import {
  NOTHING_TO_PREPARE,
  type ExposurePreparations,
} from './preparation/exposure-preparations.ts';
import type { ExposureProbes } from '../operator/exposure/exposure-probes.ts';
import type { ExposureReports } from '../operator/exposure/exposure-reports.ts';
import type { StatusInput } from '../operator/exposure/exposure-status.ts';
import {
  acceptedState,
  isInUse,
  isMoveComplete,
  startingForMs,
} from './conditions/management-conditions.ts';
import { holdExposure, letGoOfExposure, ROUTES_FINALIZER, TENANT_FINALIZER } from './finalizers.ts';
import { withTenantHops } from './conditions/hop-conditions.ts';
import type { Routed, Routing } from './routes/routing.ts';
import { conditionStates } from './conditions/exposure-conditions.ts';
import type { ExposureTask, Standing } from './standing.ts';
import type { ConditionStates } from './conditions/condition-state.ts';

/** What a run works with. */
export interface ExposureMeans extends Omit<Viewpoint, 'clock'>, TenantMeans {
  readonly management: ManagementCluster;
  readonly routing: Routing;
  readonly preparations: ExposurePreparations;
  /** When each tenant is probed. */
  readonly probes: ProbeRounds;
  /** What they are aimed at. */
  readonly aims: ExposureProbes;
  readonly reports: ExposureReports;
  readonly secrets: SecretPoller;
  readonly dependencies: DependencyIndex;
  /** How often a steady Exposure is looked at nevertheless: not all that is in a tenant is watched. */
  readonly resyncMs: number;
}

/** When to look again; undefined: when something changes. */
export type RequeueAfterMs = number | undefined;

/** Secrets are not watched: one that is missing is looked for again so soon. */
const MISSING_MS = 5_000;

/** Brings it about, as far as that can be done now. @throws StepFailed, KubeError for what should be tried again soon */
export async function reconcileExposure(
  task: ExposureTask,
  means: ExposureMeans,
  signal: AbortSignal,
): Promise<RequeueAfterMs> {
  const standing = await standingOf(task, means, signal);
  if (standing === undefined) return undefined;
  const { key, object, look, routed, preparation } = standing;
  const againMs = soonest(
    routed.requeueAfterMs,
    preparation.requeueAfterMs,
    missingMs(look.reading),
    means.resyncMs,
  );
  if (!mayServe(standing)) {
    const said = { conditions: statesOf(standing, means), hops: hopsOf(key, means) };
    await report(standing, means, said, signal);
    return standing.accepted.status === 'True' ? againMs : undefined;
  }
  const hold = async () => holdExposure(means, object, TENANT_FINALIZER, signal);
  const letGo = async () => letGoOfExposure(means, object, TENANT_FINALIZER, signal);
  const tenant = await step('WorkersReady', async () =>
    reconcileTenant({ key, hold, letGo, ...look }, means, signal),
  );
  const soonMs = soonest(againMs, tenant.requeueAfterMs);
  const startingMs = startingForMs(means.reports.statusOf(object), tenant, means.clock.now());
  if (startingMs > 0 && preparation.fault === undefined) return soonest(soonMs, startingMs);
  return conclude(standing, tenant, means, soonMs, signal);
}

/** Looks, routes and prepares. Undefined: it is being deleted, and nothing is begun any more. */
async function standingOf(
  task: ExposureTask,
  means: ExposureMeans,
  signal: AbortSignal,
): Promise<Standing | undefined> {
  const { key, object, wish } = task;
  const { routing, reports, secrets, dependencies, aims, probes, preparations } = means;
  const look = await step('Prepared', async () =>
    observeExposure(object, wish, means, signal, (dependency) => dependencies.add(key, dependency)),
  );
  const { plan } = look;
  secrets.follow(key, look.secrets);
  dependencies.set(key, look.dependencies);
  const accepted = acceptedState(plan);
  const writesRoutes = plan.management !== undefined && plan.management.length > 0;
  const hold = async () => holdExposure(means, object, ROUTES_FINALIZER, signal);
  if (writesRoutes && !(await step('Routed', hold))) return undefined;
  const routed = await step('Routed', async () => routing.apply(object, wish.edge, plan, signal));
  const before = reports.statusOf(object);
  const isMoving = !routed.isInForce && routed.isElsewhere;
  if (!isMoving) aims.aim(key, object, look);
  if (!isMoving && plan.management !== undefined && plan.routes === undefined) probes.forget(key);
  const inUse = isInUse(reports.latest(object), look, routed);
  // Not for an Edge that takes no routes yet: what is in use goes by the hosts that the control plane knows now.
  const preparation =
    accepted.status === 'True' && !isMoving
      ? await preparations.prepare(object, look, inUse, signal)
      : NOTHING_TO_PREPARE;
  if (preparation === undefined) return undefined;
  return { ...task, look, accepted, routed, before, isMoving, isInUse: inUse, preparation };
}

/**
 * What is in use stays as it is until the Edge that is wished for takes routes. And a control plane that was never
 * prepared would write the endpoints of its proxies anew, again and again.
 */
function mayServe({ look, isMoving, isInUse: inUse, preparation }: Standing): boolean {
  return !isMoving && look.plan.routes !== undefined && (preparation.isPrepared || inUse);
}

/** Ends a move, says how all of it is, and when to look again. @throws StepFailed, KubeError */
async function conclude(
  standing: Standing,
  tenant: TenantOutcome,
  means: ExposureMeans,
  againMs: number,
  signal: AbortSignal,
): Promise<RequeueAfterMs> {
  const { key, routed, preparation } = standing;
  const { probes, routing, reports } = means;
  const found = statesOf(standing, means, tenant);
  // The proxies use the previous edge until they are rolled out, and clients until DNS points to the new one.
  const probed = probes.isUpToDate(key) && !probes.isSuspect(key) ? probes.hopsOf(key) : undefined;
  const hasMoved = probed !== undefined && isMoveComplete(found, [...probed, ...tenant.hops]);
  if (hasMoved) {
    const previous = [...routed.former, ...routed.previous];
    await step('Routed', async () => routing.remove(previous, signal));
  }
  const said = {
    hops: hopsOf(key, means, tenant),
    ...{ proxies: tenant.proxies, certificate: tenant.certificate },
    // Then none of the former ones is left to be told of.
    conditions: hasMoved ? statesOf(standing, means, tenant, []) : found,
  };
  await report(standing, means, said, signal);
  if (preparation.fault !== undefined) throw new StepFailed('Prepared', preparation.fault);
  return soonest(againMs, reports.untoldMs(key));
}

/** The hops for the status; undefined before the first probe of the target. */
function hopsOf(
  key: string,
  { probes }: ExposureMeans,
  tenant?: TenantOutcome,
): readonly HopResult[] | undefined {
  return probes.isUpToDate(key)
    ? withTenantHops(probes.hopsOf(key), tenant?.hops ?? [])
    : undefined;
}

/** A state for each condition, by what is known of the way of clients too. */
function statesOf(
  standing: Standing,
  { routing, aims }: ExposureMeans,
  tenant?: TenantOutcome,
  former: readonly KubeObject[] = [...standing.routed.former, ...standing.routed.previous],
): ConditionStates {
  const { key, object, look } = standing;
  const { plan, wish } = look;
  const hops = aims.hopsFor(key, object, plan);
  const routes = () => routing.condition(object, wish.edge, plan, hops);
  return conditionStates(standing, { hops, routes, tenant, former });
}

async function report(
  { key, object, look, routed, isMoving }: Standing,
  { probes, reports }: ExposureMeans,
  said: Pick<StatusInput, 'conditions' | 'hops' | 'proxies' | 'certificate'>,
  signal: AbortSignal,
): Promise<void> {
  const { plan, wish } = look;
  const input = {
    ...{ ...said, edge: wish.edge, plan },
    isRouted: plan.management !== undefined && !isMoving,
    // Hops of other hosts are not current. If another client changed the status, they are what we found all the same.
    areHopsCurrent: probes.isUpToDate(key) || (isChanged(routed) ? false : undefined),
  };
  await reports.report(object, input, signal);
}

/** Whether this reconcile has written routes. */
function isChanged({ isInForce, isRoutedAsPlanned }: Routed): boolean {
  return isInForce && !isRoutedAsPlanned;
}

function missingMs({ findings }: ControlPlaneReading): number | undefined {
  return findings.some(({ severity }) => severity === 'error') ? MISSING_MS : undefined;
}

function soonest(...delaysMs: readonly (number | undefined)[]): number {
  return Math.min(...delaysMs.flatMap((ms) => ms ?? []));
}
