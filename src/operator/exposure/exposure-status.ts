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
    ...defined(
      'proxies',
      proxies === undefined
        ? before?.proxies
        : { ...proxies, summary: `${proxies.ready}/${proxies.desired}` },
    ),
    ...(path.mode === 'Terminate' && defined('certificate', certificate)),
    // An Exposure that is rejected, or has no routes, is no longer probed.
    ...(hasRoutes(input) && conditions.Accepted.status !== 'False' && defined('hops', hops)),
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
    reason: 'StatusRefused',
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
      ...defined('proxies', proxies),
      ...defined('certificate', certificate),
      ...defined('hops', hops),
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
  const planned = {
    ...defined('endpoint', plan?.endpoint),
    ...defined('edgeRef', edge && { name: edge.metadata.name }),
    ...defined('driver', edge?.spec.driver),
    ...defined('mode', plan?.mode),
  };
  return isRouted ? planned : { ...planned, ...pathIn(before) };
}

/** Returns the path in a status. */
function pathIn(status: ExposureStatus | undefined): ClientPath {
  return {
    ...defined('endpoint', status?.endpoint),
    ...defined('edgeRef', status?.edgeRef),
    ...defined('driver', status?.driver),
    ...defined('mode', status?.mode),
  };
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

function defined<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]: V });
}

/** A hop keeps its time while its result stays the same. */
function hopsSince(
  before: readonly Hop[] = [],
  results: readonly HopResult[],
  now: Date,
): readonly Hop[] {
  return results.map(({ name, state, code, message, action }) => {
    const hop = { name, state, reason: code, message, ...(action !== undefined && { action }) };
    const last = before.find((one) => one.name === name);
    const isSame = last?.state === state && last.reason === code;
    return { ...hop, at: isSame ? last.at : `${now.toISOString().slice(0, 19)}Z` };
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
