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
import { readyVerdict, type Verdicts } from './verdicts.ts';

/** What was found. */
export interface StatusInput {
  readonly generation: number;
  readonly verdicts: Verdicts;
  readonly edge?: Edge | undefined;
  readonly plan?: Plan | undefined;
  /** Absent: nothing new is known of them. */
  readonly hops?: readonly HopResult[] | undefined;
  readonly proxies?: { readonly ready: number; readonly desired: number } | undefined;
  readonly certificate?: ExposureStatus['certificate'];
}

/** The status that follows on the one before. */
export function nextStatus(
  before: ExposureStatus | undefined,
  input: StatusInput,
  now: Date,
): ExposureStatus {
  const { generation, edge, plan, proxies, certificate } = input;
  const route = plan === undefined ? before?.route : routeOf(plan);
  const hops = input.hops === undefined ? before?.hops : hopsSince(before?.hops, input.hops, now);
  return {
    observedGeneration: generation,
    ...defined('endpoint', plan?.endpoint),
    ...defined('edge', edge?.metadata.name),
    ...defined('driver', edge?.spec.driver),
    ...defined('mode', plan?.mode),
    ...defined('route', route),
    ...(proxies !== undefined && {
      proxies: { ...proxies, summary: `${proxies.ready}/${proxies.desired}` },
    }),
    ...defined('certificate', certificate),
    ...defined('hops', hops),
    conditions: conditionsSince(before?.conditions, input.verdicts, generation, now),
  };
}

function defined<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]: V });
}

/** What the gateway reads; nothing while the hosts are another's. */
function routeOf({ routes }: Plan): ExposureStatus['route'] {
  if (routes === undefined) return undefined;
  const { api, konnectivity } = routes;
  const target = ({ host, service, port, portName }: typeof api) => ({
    ...{ host, service, port },
    ...(portName !== '' && { portName }),
  });
  return {
    api: target(api),
    ...(konnectivity !== undefined && { konnectivity: target(konnectivity) }),
  };
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
  verdicts: Verdicts,
  observedGeneration: number,
  now: Date,
): readonly Condition[] {
  const all = { ...verdicts, Ready: readyVerdict(verdicts) };
  let conditions = before;
  for (const type of EXPOSURE_CONDITIONS) {
    conditions = setCondition(conditions, { type, ...all[type], observedGeneration }, now);
  }
  return conditions;
}
