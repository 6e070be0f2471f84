/**
 * What hops say of an Exposure's conditions. Pure.
 */
import type { Hop } from '../../api/exposure.ts';
import type { Plan } from '../../plan/plan.ts';
import { DEGRADED_CODES } from '../../probe/codes.ts';
import type { HopResult } from '../../probe/hop.ts';
import { tenantHopsNotObserved } from '../../probe/probe-exposure.ts';
import { holds, type ConditionState } from './condition-state.ts';

/** A hop, from a probe or from an earlier status. */
export type KnownHop = HopResult | Hop;

/** The hops between a client and the API. */
const WAY_TO_API = ['dns', 'edge', 'sni', 'certificate', 'api'];

/** Whether agents are connected is not looked at. */
const LEADS_TO_KONNECTIVITY = "the konnectivity host leads to this tenant's konnectivity-server";

/** Whether clients reach the API by its host; by a previous Edge, where they still go by that. */
export function reachableState(hops: readonly KnownHop[], previousEdge?: string): ConditionState {
  const way = hops.filter(({ name }) => WAY_TO_API.includes(name));
  if (way.length === 0) return notProbed();
  const state = failing(way) ?? passing(way);
  if (previousEdge === undefined) return state;
  return {
    ...state,
    message: `by Edge ${previousEdge}, which is in use until another takes the routes: ${state.message}`,
  };
}

/** Reachable, with what works in part only. */
function passing(way: readonly KnownHop[]): ConditionState {
  const degraded = way.filter((hop) => DEGRADED_CODES.has(codeOf(hop)));
  const mismatch = way.filter((hop) => codeOf(hop) === 'DnsMismatch');
  const warnings = [...degraded, ...mismatch];
  if (warnings.length === 0) {
    return holds('Reachable', 'clients reach the API by its host: every hop to it passes');
  }
  const reason = degraded.length > 0 ? 'Degraded' : 'DnsMismatch';
  return holds(reason, warnings.map(hopText).join('. '));
}

function hopText({ message, action }: KnownHop): string {
  return action === undefined ? message : `${message}; ${action}`;
}

/** The names of all hops that fail, so that none is mended and the next is a surprise. */
function others(hops: readonly KnownHop[], first: KnownHop): string {
  const failed = hops.filter((hop) => hop !== first && hop.state === 'Fail');
  if (failed.length === 0) return '';
  return `. Fails too: ${failed.map((hop) => `${hop.name} (${codeOf(hop)})`).join(', ')}`;
}

function codeOf(hop: KnownHop): string {
  return 'code' in hop ? hop.code : hop.reason;
}

/** Whether agents reach konnectivity, if the control plane has it or the spec names its port. */
export function konnectivityState(
  { routes }: Plan,
  hops: readonly KnownHop[],
  desiredPort?: number,
): ConditionState {
  if (routes?.konnectivity === undefined) {
    if (desiredPort !== undefined) {
      const message = `the Service has no port ${desiredPort}, which spec.controlPlane.service.konnectivityPort names`;
      return { status: 'False', reason: 'ServicePortMissing', message };
    }
    return holds('NotUsed', 'the control plane has no konnectivity server');
  }
  const way = hops.filter(({ name }) => name === 'konnectivity');
  if (way.length === 0) return notProbed();
  const degraded = way.find((hop) => DEGRADED_CODES.has(codeOf(hop)));
  const passed =
    degraded === undefined
      ? holds('KonnectivityReady', LEADS_TO_KONNECTIVITY)
      : holds('Degraded', hopText(degraded));
  return failing(way) ?? passed;
}

function failing(hops: readonly KnownHop[]): ConditionState | undefined {
  const failed = hops.find(({ state }) => state === 'Fail');
  if (failed !== undefined) {
    const all = `${hopText(failed)}${others(hops, failed)}`;
    return { status: 'False', reason: codeOf(failed), message: all };
  }
  const skipped = hops.find(({ state }) => state === 'Skip');
  if (skipped === undefined) return undefined;
  return { status: 'Unknown', reason: codeOf(skipped), message: skipped.message };
}

function notProbed(): ConditionState {
  return { status: 'Unknown', reason: 'NotProbed', message: 'not probed yet' };
}

/** What was probed, then the hops that the tenant's own API tells of; nothing before the first probe. */
export function withTenantHops(
  probed: readonly HopResult[] | undefined,
  tenant: readonly HopResult[],
): readonly HopResult[] | undefined {
  if (probed === undefined) return undefined;
  return [...probed, ...(tenant.length > 0 ? tenant : tenantHopsNotObserved())];
}
