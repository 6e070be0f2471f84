/**
 * Whether an Exposure would own its tenant, for a tool that writes nothing and has not seen the Lease before.
 */
import type { Finding } from '../../../api/finding.ts';
import { systemClock } from '../../../clock/clock.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { keyText, type KubeObject } from '../../../kube/object.ts';
import { RESOURCES } from '../../../kube/resource.ts';
import {
  DEFAULT_LEASE_DURATION_MS,
  exposureOfCluster,
  isLongExpired,
  newOwnerLease,
  OWNER_LEASE,
  ownerIdentity,
  readOwnerLease,
  type OwnerLease,
} from '../../../tenant/owner-lease.ts';
import { placeholder } from '../../../plan/placeholder.ts';
import type { ManagementPlace } from '../../../management/management-view.ts';
import { ownedElsewhere, ownedHere } from './ownership-findings.ts';

/** What the operator would find. */
export interface ReadOwnership {
  /** Why the Exposure does not own the tenant; absent if it does, or can. */
  readonly finding: Finding | undefined;
  /** Whether the Exposure holds the Lease, so that there is nothing to change about it. */
  readonly isHeld: boolean;
  /** Whether a deleted Exposure cleans up in the tenant. */
  readonly canCleanUp: boolean;
  /** `live` is absent if there is none. */
  readonly lease: { readonly desired: KubeObject; readonly live: KubeObject | undefined };
}

/** In place of the id of a management cluster that is not known, as with files. */
const UNKNOWN_CLUSTER = placeholder('uid of Namespace kube-system');

/** The Lease that an Exposure creates in its tenant. */
export function plannedLease(
  exposure: Pick<KubeObject, 'metadata'>,
  clusterId: string = UNKNOWN_CLUSTER,
): KubeObject {
  const identity = ownerIdentity(clusterId, keyText(exposure.metadata));
  return newOwnerLease(identity, DEFAULT_LEASE_DURATION_MS);
}

/** Reads the Lease of a tenant. @throws KubeError */
export async function readOwnership(
  reader: Pick<KubeClient, 'get'>,
  exposure: Pick<KubeObject, 'metadata'>,
  { management, clock = systemClock }: ManagementPlace,
  signal: AbortSignal,
): Promise<ReadOwnership> {
  const { clusterId } = management;
  const desired = plannedLease(exposure, clusterId);
  const found = await reader.get(RESOURCES.lease, OWNER_LEASE, { signal });
  if (found === undefined) {
    const lease = { desired, live: undefined };
    return { finding: undefined, isHeld: false, canCleanUp: true, lease };
  }
  const live = { ...found, apiVersion: desired.apiVersion, kind: desired.kind };
  const lease = readOwnerLease(found);
  if (isHeldBy(lease, exposure, clusterId)) {
    const held = { desired: newOwnerLease(lease.holderIdentity, lease.durationMs), live };
    return { finding: undefined, isHeld: true, canCleanUp: true, lease: held };
  }
  const finding = otherOwner(lease, management, clock.now());
  const canCleanUp = lease.holderIdentity === '';
  return { finding, isHeld: false, canCleanUp, lease: { desired, live } };
}

/** The id of the cluster is not known to a tool that reads the state of `snicket run`: then the Exposure has to do. */
function isHeldBy(
  { holderIdentity }: OwnerLease,
  { metadata }: Pick<KubeObject, 'metadata'>,
  clusterId: string | undefined,
): boolean {
  const key = keyText(metadata);
  return clusterId === undefined
    ? holderIdentity.endsWith(`/${key}`)
    : holderIdentity === ownerIdentity(clusterId, key);
}

function otherOwner(
  lease: OwnerLease,
  { clusterId, book }: ManagementPlace['management'],
  now: Date,
): Finding | undefined {
  const { holderIdentity, renewTime, durationMs } = lease;
  if (holderIdentity === '' || isLongExpired(lease, now)) return undefined;
  const neighbor = clusterId && exposureOfCluster(holderIdentity, clusterId);
  if (neighbor !== undefined && neighbor !== '') {
    return book.has(neighbor) ? ownedHere(neighbor) : undefined;
  }
  const renewedMs = Date.parse(renewTime);
  const latestMs = now.getTime() + durationMs;
  const expiresMs = Number.isNaN(renewedMs) ? latestMs : renewedMs + durationMs;
  return ownedElsewhere(holderIdentity, new Date(Math.min(expiresMs, latestMs)));
}
