/**
 * Coming by a tenant that is another's: asks whoever has it, or takes it, by notes on its proxies and nothing else.
 */
import { findingText, type Finding } from '../../api/finding.ts';
import type { Clock } from '../../clock/clock.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { proxiesIn } from '../../plan/ownership.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { fails, waits } from '../exposure/verdicts/verdicts.ts';
import type { TenantLink } from './link/tenant-link.ts';
import type { Claim, Notes } from './tenant-claim.ts';
import type { TenantOutcome } from './tenant-outcome.ts';

/** What it takes. */
export interface SeekMeans {
  readonly link: TenantLink;
  /** The objects of the tenant, with the proxies as they are now. */
  readonly live: readonly KubeObject[];
  readonly askMs: number;
  readonly clock: Clock;
  /** Called before it is taken: from then on there is something to clean up. False: it is too late to begin. */
  readonly hold: () => Promise<boolean>;
}

/** Somebody wrote on the proxies meanwhile, or we did: so soon they are looked at again. */
const AGAIN_MS = 500;

/** One step on the way to a tenant that cannot be had now, for this reason. @throws KubeError */
export async function seekTenant(
  obstacle: Finding,
  claim: Claim | undefined,
  { link, live, askMs, hold, clock }: SeekMeans,
  signal: AbortSignal,
): Promise<TenantOutcome> {
  const waiting = { verdict: waits(obstacle.code, findingText(obstacle)), hops: [] };
  switch (claim?.kind) {
    case 'waits':
      return { ...waiting, lookAgainMs: Math.max(AGAIN_MS, claim.endMs - clock.now().getTime()) };
    case 'asks': {
      const isAsked = await writeNotes(link, live, claim.notes, signal);
      return { ...waiting, lookAgainMs: isAsked ? askMs : AGAIN_MS };
    }
    case 'takes':
      if (await hold()) await writeNotes(link, live, claim.notes, signal);
      // What was read was the other's.
      link.reader.clear();
      return { ...waiting, lookAgainMs: AGAIN_MS };
    case 'has':
    case 'yields':
    case undefined:
      return { verdict: fails(obstacle), hops: [] };
  }
}

/** Writes on the proxies, if they are as they were read; false: they are not any more. @throws KubeError */
export async function writeNotes(
  { client }: TenantLink,
  live: readonly KubeObject[],
  annotations: Notes,
  signal: AbortSignal,
): Promise<boolean> {
  const { resourceVersion } = proxiesIn(live)?.metadata ?? {};
  const body = { metadata: { resourceVersion, annotations } };
  try {
    await client.patch(RESOURCES.daemonSet, PROXY, 'merge', body, { signal });
    return true;
  } catch (error) {
    if (isKubeError(error, 'Conflict') || isKubeError(error, 'NotFound')) return false;
    throw error;
  }
}
