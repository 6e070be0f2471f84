/**
 * The status of an Exposure from what was found. Pure: nothing in it changes as long as nothing else does, times
 * included, so that a steady Exposure is never written.
 */
import { EXPOSURE_CONDITIONS, type ExposureStatus, type Hop } from '../../api/exposure.ts';
import type { Condition } from '../../kube/object.ts';
import { setCondition } from '../../kube/conditions.ts';
import type { Plan } from '../../plan/plan.ts';
import type { HopResult } from '../../probe/hop.ts';
import type { Edge } from '../../api/edge.ts';
import {
  readyState,
  type ConditionState,
  type ConditionStates,
} from '../../reconcile/conditions/condition-state.ts';

/** What was found. */
export interface StatusInput {
  readonly generation: number;
  readonly conditions: ConditionStates;
  /** Absent, as is the plan: nothing can be told of them. */
  readonly edge?: Edge | undefined;
  readonly plan?: Plan | undefined;
  /** Whether routes are as the plan has them. If not, those from before are in use still. */
  readonly isRouted: boolean;
  /** Absent: nothing new is known of them. */
  readonly hops?: readonly HopResult[] | undefined;
  /** Whether those of before are about the way that is in use now. Default: if that is as it was before. */
  readonly areHopsCurrent?: boolean | undefined;
  /** Absent: the same. */
  readonly proxies?: { readonly ready: number; readonly desired: number } | undefined;
  /** Absent: the same. */
  readonly certificate?: ExposureStatus['certificate'];
}

/** The status that follows on the one before. */
export function nextStatus(
  before: ExposureStatus | undefined,
  input: StatusInput,
  now: Date,
): ExposureStatus {
  const { generation, conditions, proxies } = input;
  const way = wayOf(before, input);
  const { areHopsCurrent = isSameWay(before, way) } = input;
  const known = areHopsCurrent ? before?.hops : undefined;
  const hops = input.hops === undefined ? known : hopsSince(known, input.hops, now);
  const certificate = input.certificate ?? before?.certificate;
  return {
    observedGeneration: generation,
    ...way,
    ...defined(
      'proxies',
      proxies === undefined
        ? before?.proxies
        : { ...proxies, summary: `${proxies.ready}/${proxies.desired}` },
    ),
    ...(way.mode === 'Terminate' && defined('certificate', certificate)),
    // A refused Exposure, or one without routes, is not probed any more.
    ...(hasRoutes(input) && conditions.Accepted.status !== 'False' && defined('hops', hops)),
    conditions: conditionsSince(before?.conditions, conditions, generation, now),
  };
}

/**
 * In place of a status that the API server refuses: the way, which is ours, and of the rest what it took before. Ready is
 * False, since nobody can read what it would be.
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
    message: `the management cluster refuses the status that was found: ${because}`,
  };
  const { proxies, certificate, hops, conditions = [] } = before ?? {};
  const { observedGeneration = 0 } = found;
  const { status, reason, message } = ready;
  const claim = { type: 'Ready', status, reason, message, observedGeneration };
  return {
    ready,
    status: {
      observedGeneration,
      ...wayIn(found),
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

type Way = Pick<ExposureStatus, 'endpoint' | 'edgeRef' | 'driver' | 'mode'>;

/** How clients reach the tenant: what is in use stays until something else is. */
function wayOf(before: ExposureStatus | undefined, input: StatusInput): Way {
  const { plan, edge, isRouted } = input;
  const planned = {
    ...defined('endpoint', plan?.endpoint),
    ...defined('edgeRef', edge && { name: edge.metadata.name }),
    ...defined('driver', edge?.spec.driver),
    ...defined('mode', plan?.mode),
  };
  return isRouted ? planned : { ...planned, ...wayIn(before) };
}

/** As much of it as a status has. */
function wayIn(status: ExposureStatus | undefined): Way {
  return {
    ...defined('endpoint', status?.endpoint),
    ...defined('edgeRef', status?.edgeRef),
    ...defined('driver', status?.driver),
    ...defined('mode', status?.mode),
  };
}

/** Whether hops of before are still about the way of clients. */
function isSameWay(before: ExposureStatus | undefined, way: Way): boolean {
  const placeIn = ({ endpoint, edgeRef, driver }: Way) => ({
    endpoint,
    edge: edgeRef?.name,
    driver,
  });
  return before !== undefined && Bun.deepEquals(placeIn(before), placeIn(way));
}

function defined<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]: V });
}

/** A hop keeps its time as long as it says the same. */
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
