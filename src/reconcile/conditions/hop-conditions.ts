/**
 * The conditions of an Exposure that are derived from hops. Pure.
 */
import { findingText, type FindingMessage } from '../../api/finding.ts';
import type { Hop } from '../../api/exposure.ts';
import type { Plan } from '../../plan/plan.ts';
import type { HopResult } from '../../probe/hop.ts';
import { tenantHopsNotObserved } from '../../probe/probe-exposure.ts';
import { conditionTrue, type ConditionState } from './condition-state.ts';

/** A hop, from a probe or from an earlier status, which another version of Snicket may have written. */
export interface KnownHop extends FindingMessage {
  readonly name: string;
  readonly state: string;
  readonly code: string;
}

/** Returns a hop of a status. */
export function reportedHop({ name, state, reason, message, action }: Hop): KnownHop {
  return { name, state, code: reason, message, ...(action !== undefined && { action }) };
}

/** The hops between a client and the API. */
const API_HOPS = ['dns', 'edge', 'sni', 'certificate', 'api'];

const KONNECTIVITY_READY = "An agent is connected to the tenant's konnectivity-server.";

/** Whether clients reach the API by its host; by a previous Edge, where they still go by that. */
export function reachableState(hops: readonly KnownHop[], previousEdge?: string): ConditionState {
  const way = hops.filter(({ name }) => API_HOPS.includes(name));
  if (way.length === 0) return notProbed();
  const state = failing(way) ?? passing(way);
  if (previousEdge === undefined) return state;
  return {
    ...state,
    message: `Edge ${previousEdge} is in use until the new Edge accepts the routes. ${state.message}`,
  };
}

/** Reachable, possibly degraded. */
function passing(way: readonly KnownHop[]): ConditionState {
  const degraded = way.filter((hop) => hop.code === 'Degraded');
  const mismatch = way.filter((hop) => hop.code === 'DnsMismatch');
  const warnings = [...degraded, ...mismatch];
  if (warnings.length === 0) {
    return conditionTrue('Reachable', 'Clients reach the API: every hop passes.');
  }
  const reason = degraded.length > 0 ? 'Degraded' : 'DnsMismatch';
  return conditionTrue(reason, warnings.map(findingText).join(' '));
}

/** The names of all other hops that fail, so that a user can fix all of them. */
function others(hops: readonly KnownHop[], first: KnownHop): string {
  const failed = hops.filter((hop) => hop !== first && hop.state === 'Fail');
  if (failed.length === 0) return '';
  return ` Also failing: ${failed.map((hop) => `${hop.name} (${hop.code})`).join(', ')}.`;
}

/** Whether an agent is connected to konnectivity, if the control plane has it or the spec names its port. */
export function konnectivityState(
  { routes }: Plan,
  hops: readonly KnownHop[],
  desiredPort?: number,
): ConditionState {
  if (routes?.konnectivity === undefined) {
    if (desiredPort !== undefined) {
      const message = `The Service has no port ${desiredPort}, which spec.controlPlane.service.konnectivityPort names.`;
      return { status: 'False', reason: 'ServiceInvalid', message };
    }
    return conditionTrue('NotApplicable', 'The control plane has no konnectivity server.');
  }
  const [hop] = hops.filter(({ name }) => name === 'konnectivity');
  if (hop === undefined) return notProbed();
  const isPartial = hop.code === 'Degraded' || hop.code === 'NoNodes';
  const passed = isPartial
    ? conditionTrue(hop.code, findingText(hop))
    : conditionTrue('KonnectivityReady', KONNECTIVITY_READY);
  return failing([hop]) ?? passed;
}

function failing(hops: readonly KnownHop[]): ConditionState | undefined {
  const failed = hops.find(({ state }) => state === 'Fail');
  if (failed !== undefined) {
    const all = `${findingText(failed)}${others(hops, failed)}`;
    return { status: 'False', reason: failed.code, message: all };
  }
  const skipped = hops.find(({ state }) => state === 'Skip');
  if (skipped === undefined) return undefined;
  return { status: 'Unknown', reason: skipped.code, message: findingText(skipped) };
}

function notProbed(): ConditionState {
  return { status: 'Unknown', reason: 'NotProbed', message: 'Not probed yet.' };
}

/** The probed hops, then the hops that the tenant's API reports; undefined before the first probe. */
export function withTenantHops(
  probed: readonly HopResult[] | undefined,
  tenant: readonly HopResult[],
): readonly HopResult[] | undefined {
  if (probed === undefined) return undefined;
  return [...probed, ...(tenant.length > 0 ? tenant : tenantHopsNotObserved())];
}
