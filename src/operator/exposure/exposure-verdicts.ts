/**
 * What a look at the management cluster says of an Exposure's conditions. Pure.
 */
import type { Edge } from '../../api/edge.ts';
import type { ExposureStatus } from '../../api/exposure.ts';
import type { Plan } from '../../plan/plan.ts';
import type { ControlPlaneReading } from '../../providers/read-control-plane.ts';
import type { TenantOutcome } from '../tenant/bring-tenant.ts';
import { isElsewhere, routeOf } from './exposure-status.ts';
import { fails, holds, notYet, readyVerdict, type Verdict, type Verdicts } from './verdicts.ts';

/** Nothing is looked into before the wish is a good one. */
export function refused(accepted: Verdict): Verdicts {
  const later = notYet('Accepted');
  return {
    ...{ Accepted: accepted, Prepared: later, Routed: later },
    ...{ TenantReady: later, KonnectivityReady: later, Reachable: later },
  };
}

/** Whether the wish can be met. */
export function acceptedVerdict({ findings }: Plan): Verdict {
  const wrong = findings.find(({ about, severity }) => about === 'wish' && severity === 'error');
  return wrong === undefined
    ? holds('Accepted', 'the Edge is there and the hosts are free')
    : fails(wrong);
}

/** Whether all is known of the control plane. */
export function preparedVerdict({ findings }: ControlPlaneReading): Verdict {
  const [wrong] = findings;
  return wrong === undefined
    ? holds('Prepared', 'the control plane is there, with its Service, CA and kubeconfig')
    : fails(wrong);
}

/** Whether the gateway can already read what the plan says. */
export function isRoutedAs(status: ExposureStatus | undefined, edge: Edge, plan: Plan): boolean {
  return !isElsewhere(status, edge) && Bun.deepEquals(status?.route, routeOf(plan));
}

/** Ready, and with no proxy that is as it was before. */
export function hasEverything(verdicts: Verdicts, { hops }: TenantOutcome): boolean {
  const isUpdating = hops.some(({ code }) => code === 'ProxiesUpdating');
  return readyVerdict(verdicts).status === 'True' && !isUpdating;
}

/** What was known of the tenant before this look at it. */
export function tenantBefore(before: ExposureStatus | undefined): Verdict {
  const known = before?.conditions?.find(({ type }) => type === 'TenantReady');
  const { status = 'Unknown', reason = 'NotLookedAt', message = 'not looked at yet' } = known ?? {};
  return { status, reason, message };
}

/** That a tenant is on its way is told after so long: most are there by then, and each telling is a write. */
const STARTING_MS = 5_000;

/** For how long it need not be told yet how a tenant is. */
export function startingForMs(
  before: ExposureStatus | undefined,
  { verdict }: TenantOutcome,
  now: Date,
): number {
  const known = before?.conditions?.find(({ type }) => type === 'TenantReady');
  if (verdict.isWaiting !== true || known?.status !== 'Unknown') return 0;
  const sinceMs = now.getTime() - Date.parse(known.lastTransitionTime);
  return Math.max(0, STARTING_MS - sinceMs);
}
