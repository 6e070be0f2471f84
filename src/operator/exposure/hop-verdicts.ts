/**
 * What hops say of an Exposure's conditions. Pure.
 */
import type { Hop } from '../../api/exposure.ts';
import type { Plan } from '../../plan/plan.ts';
import type { HopResult } from '../../probe/hop.ts';
import { holds, type Verdict } from './verdicts.ts';

/** A hop, from a probe or from an earlier status. */
export type KnownHop = HopResult | Hop;

/** The hops between a client and the API. */
const WAY_TO_API = ['dns', 'edge', 'sni', 'certificate', 'api'];

/** Whether clients reach the API by its host. */
export function reachableVerdict(hops: readonly KnownHop[]): Verdict {
  const way = hops.filter(({ name }) => WAY_TO_API.includes(name));
  if (way.length === 0) return notProbed();
  return (
    failing(way) ?? holds('Reachable', 'clients reach the API by its host: every hop to it passes')
  );
}

/** Whether agents reach konnectivity, where there is any. */
export function konnectivityVerdict({ routes }: Plan, hops: readonly KnownHop[]): Verdict {
  if (routes?.konnectivity === undefined) {
    return holds('NotUsed', 'the control plane has no konnectivity server');
  }
  const way = hops.filter(({ name }) => name === 'konnectivity');
  if (way.length === 0) return notProbed();
  return failing(way) ?? holds('KonnectivityReady', 'agents reach the konnectivity server');
}

function failing(hops: readonly KnownHop[]): Verdict | undefined {
  const failed = hops.find(({ state }) => state === 'Fail');
  if (failed !== undefined) {
    const { message, action } = failed;
    const reason = 'code' in failed ? failed.code : failed.reason;
    const text = action === undefined ? message : `${message}; ${action}`;
    return { status: 'False', reason, message: text };
  }
  const skipped = hops.find(({ state }) => state === 'Skip');
  if (skipped === undefined) return undefined;
  const reason = 'code' in skipped ? skipped.code : skipped.reason;
  return { status: 'Unknown', reason, message: skipped.message };
}

function notProbed(): Verdict {
  return { status: 'Unknown', reason: 'NotProbed', message: 'not probed yet' };
}

/** What was probed, with the hops that the tenant's own API tells of, in the order of the path; nothing before the first probe. */
export function withTenantHops(
  probed: readonly HopResult[] | undefined,
  tenant: readonly HopResult[],
): readonly HopResult[] | undefined {
  if (probed === undefined) return undefined;
  const known = new Map(tenant.map((hop) => [hop.name, hop]));
  return probed.map((hop) => known.get(hop.name) ?? hop);
}
