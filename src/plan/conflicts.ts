/**
 * Conflicts between the hosts of Exposures. Two Exposures never share a host: most ingress controllers would serve one
 * of them and report nothing.
 */
import type { Exposure } from '../api/exposure.ts';
import type { Finding } from '../api/finding.ts';
import type { Hosts } from '../api/hosts.ts';
import { keyText, type ObjectMeta } from '../kube/object.ts';

/** An Exposure and the hosts that it claims. */
export interface HostClaim {
  readonly exposure: Pick<Exposure, 'metadata'>;
  /** Absent if it claims none, because its spec is invalid. */
  readonly hosts?: Hosts | undefined;
  /**
   * The name of the Edge that the Exposure uses. Absent if there is none, or if the Edge does not allow the Exposure.
   */
  readonly edge?: string | undefined;
  /** The name in `spec.edgeRef`, empty for the default Edge. Absent if the spec is invalid. */
  readonly edgeRef?: string | undefined;
}

/** The Exposure that owns a host. */
export interface HostOwner {
  /** `namespace/name` */
  readonly key: string;
  /** Absent if the Exposure does not exist: a TenantRoute reserves the host for it. */
  readonly metadata?: ObjectMeta | undefined;
  /** The key of the TenantRoute that determines the owner; absent if the host has none. */
  readonly route?: string | undefined;
}

/** The owners of hosts. */
export interface HostOwners {
  ownerOf(host: string): HostOwner | undefined;
  /** Returns the hosts of all TenantRoutes of an Exposure, by its key. */
  routedHosts(key: string): readonly string[];
}

/** The finding that a host belongs to another Exposure. */
export interface HostConflict extends Finding {
  /** Whether the Exposure owns the hosts of all its TenantRoutes. If so, these TenantRoutes stay in use. */
  readonly keepsRoutes: boolean;
}

/** Returns why an Exposure cannot have a host that it claims; undefined if it owns all of them. */
export function hostConflict(claim: HostClaim, owners: HostOwners): HostConflict | undefined {
  const key = keyText(claim.exposure.metadata);
  const otherOwner = (host: string) => {
    const owner = owners.ownerOf(host);
    return owner === undefined || owner.key === key ? undefined : owner;
  };
  for (const host of claimedHosts(claim)) {
    const owner = otherOwner(host);
    if (owner === undefined) continue;
    const inUse = owners.routedHosts(key);
    const keepsRoutes = inUse.length > 0 && inUse.every((host) => otherOwner(host) === undefined);
    return { ...conflictOver(host, owner, keepsRoutes ? inUse : []), keepsRoutes };
  }
  return undefined;
}

/** Returns the hosts that the spec of an Exposure claims. */
export function claimedHosts({ hosts }: HostClaim): readonly string[] {
  return [hosts?.api, hosts?.konnectivity].flatMap((host) => host ?? []);
}

function conflictOver(
  host: string,
  { key, metadata, route }: HostOwner,
  inUse: readonly string[],
): Finding {
  const stays = inUse.length === 0 ? '' : ` The route on ${inUse.join(' and ')} stays in use.`;
  const finding = { code: 'HostConflict', severity: 'error' } as const;
  if (metadata === undefined) {
    return {
      ...finding,
      message: `Host ${host} is reserved by TenantRoute ${route} for Exposure ${key}, which does not exist.${stays}`,
      action: 'Choose another host, or delete that TenantRoute if the Exposure will not return.',
    };
  }
  const isDeleting = metadata.deletionTimestamp !== undefined;
  return {
    ...finding,
    message: `Host ${host} is already used by Exposure ${key}${isDeleting ? ', which is being deleted' : ''}.${stays}`,
    action: isDeleting
      ? 'Wait until that Exposure is deleted, or choose another host.'
      : 'Choose another host or delete that Exposure.',
  };
}
