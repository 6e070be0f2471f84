/**
 * Plans one reconcile of an Edge. Pure: the same observation gives the same plan.
 */
import type { EdgeStatus } from '../../api/edge.ts';
import { inUseFinding } from '../../api/edge-deletion.ts';
import { setCondition } from '../../kube/conditions.ts';
import type { KubeError } from '../../kube/kube-error.ts';
import { edgeAddresses, edgeFault } from '../../management/edge-state.ts';
import {
  conditionFalse,
  conditionTrue,
  withFinding,
  conditionUnknownUntil,
  conditionPending,
  type ConditionState,
} from '../../reconcile/conditions/condition-state.ts';
import { managementFault } from '../../reconcile/management-fault.ts';
import type { EdgeObservation } from './observe-edge.ts';

/** What to write. */
interface EdgePlan {
  /** Absent: the Edge is being deleted, and nothing uses it. */
  readonly status?: EdgeStatus | undefined;
  /** Whether the Edge has the finalizer that holds it after its deletion. */
  readonly isProtected: boolean;
  /** Reported once the plan is applied, so that the Edge is reconciled again: no event reports a new permission. */
  readonly retry?: KubeError | undefined;
}

/** The plan for an Edge. */
export function planEdge(observation: EdgeObservation): EdgePlan {
  const { object, users, protectsEdges, readError } = observation;
  const isDeleted = object.metadata.deletionTimestamp !== undefined;
  if (isDeleted && users.length === 0) return { isProtected: false };
  return {
    status: statusOf(observation),
    isProtected: protectsEdges && users.length > 0,
    retry: readError,
  };
}

function statusOf(observation: EdgeObservation): EdgeStatus {
  const { object, context, routes, users, status: before, now } = observation;
  const { generation: observedGeneration = 0 } = object.metadata;
  const addresses = 'code' in context ? [] : edgeAddresses(context, routes);
  const usable = usableState(observation);
  const states = {
    Accepted: acceptedState(observation, usable),
    Ready: 'code' in context ? conditionUnknownUntil('Accepted') : readyState(usable, addresses),
  };
  let conditions = before?.conditions ?? [];
  for (const [type, { status, reason, message }] of Object.entries(states)) {
    const condition = { type, status, reason, message, observedGeneration };
    conditions = setCondition(conditions, condition, now);
  }
  return {
    observedGeneration,
    exposures: users.length,
    conditions,
    ...(addresses.length > 0 && { addresses, addressSummary: summaryOf(addresses) }),
  };
}

/** Whether the driver can write routes: its permissions, kinds, class or Gateway may be missing. */
function usableState({ context, readError }: EdgeObservation): ConditionState {
  if ('code' in context) return conditionFalse(context);
  const fault = readError === undefined ? edgeFault(context) : managementFault(readError);
  return fault === undefined
    ? conditionTrue('Accepted', 'The driver can write routes.')
    : conditionFalse(fault);
}

function acceptedState(
  { object: { metadata }, users, defaultFinding }: EdgeObservation,
  usable: ConditionState,
): ConditionState {
  return metadata.deletionTimestamp === undefined
    ? withFinding(usable, defaultFinding)
    : conditionFalse(inUseFinding(metadata.name, users.toSorted()));
}

function readyState(usable: ConditionState, addresses: readonly string[]): ConditionState {
  if (usable.status !== 'True') return usable;
  if (addresses.length > 0)
    return conditionTrue('Ready', `Edge addresses: ${addresses.join(', ')}.`);
  return conditionPending(
    'AddressUnknown',
    'Field spec.addresses is not set, and the ingress controller reports no address. Workers keep the addresses that it reported last, or resolve the hosts by DNS. Set spec.addresses, and spec.port if the Service is of type NodePort. A Service of type LoadBalancer gets its address after a while',
  );
}

/** For a column: kubectl shows a list as JSON. */
function summaryOf(addresses: readonly string[]): string {
  const shown = addresses.slice(0, 3).join(', ');
  return addresses.length > 3 ? `${shown} and ${addresses.length - 3} more` : shown;
}
