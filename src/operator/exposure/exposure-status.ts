/**
 * Computes the status of an Exposure. Pure: the same input gives the same status, including times, so that the status of a steady
 * Exposure is not written.
 */
import { EXPOSURE_CONDITIONS, type ExposureStatus, type Hop } from '../../api/exposure.ts';
import type { Condition } from '../../kube/object.ts';
import { setCondition } from '../../kube/conditions.ts';
import type { HopResult } from '../../probe/hop.ts';
import {
  readyState,
  type ConditionState,
  type ConditionStates,
} from '../../reconcile/conditions/condition-state.ts';
import type { ExposureReport } from '../../reconcile/report.ts';

/** The report of a reconcile, and the generation of the spec that it describes. */
export interface StatusInput extends ExposureReport {
  readonly generation: number;
}

/** Returns the status that follows `before`. */
export function nextStatus(
  before: ExposureStatus | undefined,
  input: StatusInput,
  now: Date,
): ExposureStatus {
  const { generation, conditions, proxies } = input;
  const path = pathOf(before, input);
  const { areHopsCurrent = isSamePath(before, path) } = input;
  const known = areHopsCurrent ? before?.hops : undefined;
  const hops = input.hops === undefined ? known : hopsSince(known, input.hops, now);
  const certificate = input.certificate ?? before?.certificate;
  return {
    observedGeneration: generation,
    ...path,
    proxies: proxies
      ? { ...proxies, summary: `${proxies.ready}/${proxies.desired}` }
      : before?.proxies,
    certificate: path.mode === 'Terminate' ? certificate : undefined,
    // An Exposure that is rejected, or has no routes, is no longer probed.
    hops: hasRoutes(input) && conditions.Accepted.status !== 'False' ? hops : undefined,
    conditions: conditionsSince(before?.conditions, conditions, generation, now),
  };
}

/**
 * Replaces a status that the API server rejects: the path comes from the new status, everything else from the previous one. Ready
 * is False.
 */
export function refusedStatus(
  before: ExposureStatus | undefined,
  found: ExposureStatus,
  because: string,
  now: Date,
): { readonly status: ExposureStatus; readonly ready: ConditionState } {
  const ready: ConditionState = {
    status: 'False',
    reason: 'CrdsOutdated',
    message: `The management cluster rejects the status: ${because}`,
  };
  const { proxies, certificate, hops, conditions = [] } = before ?? {};
  const { observedGeneration = 0 } = found;
  const { status, reason, message } = ready;
  const claim = { type: 'Ready', status, reason, message, observedGeneration };
  return {
    ready,
    status: {
      observedGeneration,
      ...pathIn(found),
      proxies,
      certificate,
      hops,
      conditions: setCondition(conditions, claim, now),
    },
  };
}

function hasRoutes({ isRouted, plan }: StatusInput): boolean {
  return !isRouted || plan?.routes !== undefined;
}

type ClientPath = Pick<ExposureStatus, 'endpoint' | 'edgeRef' | 'driver' | 'mode'>;

/** Returns the path of clients to the tenant. The current path stays until the routes of another path are applied. */
function pathOf(before: ExposureStatus | undefined, input: StatusInput): ClientPath {
  const { plan, edge, isRouted } = input;
  const current: ClientPath = isRouted ? {} : pathIn(before);
  return {
    endpoint: current.endpoint ?? plan?.endpoint,
    edgeRef: current.edgeRef ?? (edge && { name: edge.metadata.name }),
    driver: current.driver ?? edge?.spec.driver,
    mode: current.mode ?? plan?.mode,
  };
}

/** Returns the path in a status. */
function pathIn({ endpoint, edgeRef, driver, mode }: ExposureStatus = {}): ClientPath {
  return { endpoint, edgeRef, driver, mode };
}

/** Reports whether the previous hops describe the current path of clients. */
function isSamePath(before: ExposureStatus | undefined, path: ClientPath): boolean {
  const endpointOf = ({ endpoint, edgeRef, driver }: ClientPath) => ({
    endpoint,
    edge: edgeRef?.name,
    driver,
  });
  return before !== undefined && Bun.deepEquals(endpointOf(before), endpointOf(path));
}

/** A hop keeps its time while its result stays the same. */
function hopsSince(
  before: readonly Hop[] = [],
  results: readonly HopResult[],
  now: Date,
): readonly Hop[] {
  return results.map(({ name, state, code, message, action }) => {
    const last = before.find((hop) => hop.name === name);
    const isSame = last?.state === state && last.reason === code;
    return {
      name,
      state,
      reason: code,
      message,
      action,
      at: isSame ? last.at : `${now.toISOString().slice(0, 19)}Z`,
    };
  });
}

function conditionsSince(
  before: readonly Condition[] = [],
  states: ConditionStates,
  observedGeneration: number,
  now: Date,
): readonly Condition[] {
  const all = { ...states, Ready: readyState(states) };
  let conditions = before;
  for (const type of EXPOSURE_CONDITIONS) {
    const { status, reason, message } = all[type];
    const claim = { type, status, reason, message, observedGeneration };
    conditions = setCondition(conditions, claim, now);
  }
  return conditions;
}
