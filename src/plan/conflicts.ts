/**
 * Which Exposure has which host. Two never share one: on real edges the newcomer would take it, and no status would
 * say so.
 */
import type { Exposure } from '../api/exposure.ts';
import type { Hosts } from '../api/hosts.ts';
import { keyText } from '../kube/object.ts';
import type { Finding } from '../api/finding.ts';

/** An Exposure, and the hosts that it wishes for. Those on their way out hold what they have until they are gone. */
export interface HostClaim {
  readonly exposure: Pick<Exposure, 'metadata' | 'status'>;
  /** Absent where it has none, by a fault of its own. */
  readonly hosts?: Hosts | undefined;
}

/** Who has a host. */
export interface HostHolders {
  get(host: string): HostClaim | undefined;
}

/**
 * The Exposure that has a host: the one that it is routed to already, or else the oldest of those that wish for it. So
 * nobody loses a host because somebody else, however old, begins to wish for it; and a host that is given up is held
 * until its route is gone. One that an Exposure has moved away from is its own as long as nobody else wants it.
 */
export function hostHolders(claims: readonly HostClaim[]): ReadonlyMap<string, HostClaim> {
  const holders = new Map<string, HostClaim>();
  for (const claim of claims.toSorted(bySeniority)) {
    for (const host of wishedBy(claim)) if (!holders.has(host)) holders.set(host, claim);
  }
  // From the youngest on, so that the oldest has the last word.
  for (const claim of claims.toSorted(bySeniority).toReversed()) {
    for (const host of routedTo(claim)) holders.set(host, claim);
  }
  for (const claim of claims.toSorted(bySeniority)) {
    for (const host of formerlyRoutedTo(claim)) if (!holders.has(host)) holders.set(host, claim);
  }
  return holders;
}

/** That a host belongs to another Exposure. */
export interface HostConflict extends Finding {
  /** Whether the hosts of the route that is in use are this one's still: then it stays in use. */
  readonly keepsRoute: boolean;
}

/** Why this Exposure cannot have a host that it wishes for; nothing if it has all of them. */
export function hostConflict(claim: HostClaim, holders: HostHolders): HostConflict | undefined {
  const otherHolder = (host: string) => {
    const holder = holders.get(host);
    return holder === undefined || keyOf(holder) === keyOf(claim) ? undefined : holder;
  };
  for (const host of wishedBy(claim)) {
    const holder = otherHolder(host);
    if (holder === undefined) continue;
    const inUse = routedTo(claim);
    const keepsRoute = inUse.length > 0 && inUse.every((one) => otherHolder(one) === undefined);
    return { ...conflictOver(host, holder, keepsRoute ? inUse : []), keepsRoute };
  }
  return undefined;
}

/** Every host that an Exposure wishes for, is routed by, or was. */
export function claimedHosts(claim: HostClaim): readonly string[] {
  return [...new Set([...wishedBy(claim), ...routedTo(claim), ...formerlyRoutedTo(claim)])];
}

function conflictOver(host: string, holder: HostClaim, kept: readonly string[]): Finding {
  const { creationTimestamp, deletionTimestamp } = holder.exposure.metadata;
  const since = creationTimestamp === undefined ? '' : ` since ${creationTimestamp.slice(0, 10)}`;
  const isLeaving = deletionTimestamp !== undefined;
  return {
    code: 'HostConflict',
    severity: 'error',
    message: [
      `${host} is held by Exposure ${keyOf(holder)}${since}${isLeaving ? ', which is being deleted' : ''}`,
      ...(kept.length === 0 ? [] : [`the route by ${kept.join(' and ')} stays in use`]),
    ].join('; '),
    action: isLeaving
      ? 'wait until that one is gone, or choose another host'
      : 'choose another host or delete that one',
  };
}

function bySeniority(a: HostClaim, b: HostClaim): number {
  // As Kubernetes writes them, times sort as texts do. One that has none is not in any cluster yet.
  return (
    compare(
      a.exposure.metadata.creationTimestamp ?? '~',
      b.exposure.metadata.creationTimestamp ?? '~',
    ) || compare(keyOf(a), keyOf(b))
  );
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function keyOf({ exposure }: HostClaim): string {
  return keyText(exposure.metadata);
}

function wishedBy({ hosts }: HostClaim): readonly string[] {
  return [hosts?.api, hosts?.konnectivity].flatMap((host) => host ?? []);
}

function routedTo({ exposure }: HostClaim): readonly string[] {
  return hostsIn(exposure.status?.route);
}

function formerlyRoutedTo({ exposure }: HostClaim): readonly string[] {
  return hostsIn(exposure.status?.formerRoute);
}

function hostsIn(route: NonNullable<Exposure['status']>['route']): readonly string[] {
  return [route?.api.host, route?.konnectivity?.host].flatMap((host) => host ?? []);
}
