/**
 * The Lease in a tenant that names its owner: the only Exposure, of one management cluster, that may write there. Pure.
 *
 * Anyone in the tenant can write this Lease, and its API server can send anything. The values are therefore bounded,
 * and determine only whether, and how long, Snicket waits.
 */
import { MANAGED_BY } from '../api/labels.ts';
import { microTimeText, type KubeObject } from '../kube/object.ts';
import { RESOURCES } from '../kube/resource.ts';
import { quoted } from '../text/quote.ts';

/** The name and namespace of the Lease. */
export const OWNER_LEASE = { name: 'snicket-owner', namespace: 'kube-system' } as const;

/**
 * The default time for which an owner keeps a tenant without renewing the Lease. It is long enough for an upgrade of
 * the owner's cluster.
 */
export const DEFAULT_LEASE_DURATION_MS = 900_000;

/** The minimum duration. A shorter one would make Snicket read the Lease all the time. */
const MIN_DURATION_MS = 15_000;

/** The maximum duration, whatever the Lease says. */
const MAX_DURATION_MS = 3_600_000;

/** The maximum difference between the clocks of two management clusters. */
const MAX_CLOCK_SKEW_MS = 3_600_000;

/** The maximum length of an identity: a uid, a namespace and a name are shorter. */
const MAX_IDENTITY_LENGTH = 512;

const MAX_TRANSITIONS = 2 ** 31 - 2;

/** The validated content of a Lease. */
export interface OwnerLease {
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  /** Empty if there is no owner. Truncated if it is too long for an identity. */
  readonly holderIdentity: string;
  readonly durationMs: number;
  /** Empty if it is not a valid time. */
  readonly acquireTime: string;
  readonly renewTime: string;
  readonly transitions: number;
}

/** Returns the identity of an Exposure. The uid of namespace `kube-system` identifies its management cluster. */
export function ownerIdentity(clusterId: string, exposure: string): string {
  return `${clusterId}/${exposure}`;
}

/** Returns the key of the Exposure, `namespace/name`, if the identity belongs to this management cluster. */
export function exposureOfCluster(holderIdentity: string, clusterId: string): string | undefined {
  const prefix = `${clusterId}/`;
  return holderIdentity.startsWith(prefix) ? holderIdentity.slice(prefix.length) : undefined;
}

/** Returns the owner as text for messages. */
export function ownerText(holderIdentity: string): string {
  const [, cluster, exposure] = /^([\w-]{1,64})\/([^/]+\/[^/]+)$/.exec(holderIdentity) ?? [];
  if (cluster === undefined || exposure === undefined) return `"${quoted(holderIdentity, 128)}"`;
  return `Exposure ${quoted(exposure, 128)} of management cluster ${cluster}`;
}

/** Returns the validated content of a Lease. */
export function readOwnerLease(object: KubeObject): OwnerLease {
  const { spec } = object as KubeObject & { readonly spec?: unknown };
  const fields = typeof spec === 'object' && spec !== null ? (spec as LeaseFields) : {};
  const { holderIdentity, leaseDurationSeconds, leaseTransitions } = fields;
  return {
    uid: object.metadata.uid,
    resourceVersion: object.metadata.resourceVersion,
    holderIdentity:
      typeof holderIdentity === 'string' ? holderIdentity.slice(0, MAX_IDENTITY_LENGTH) : '',
    durationMs: durationOf(leaseDurationSeconds),
    acquireTime: timeIn(fields.acquireTime),
    renewTime: timeIn(fields.renewTime),
    transitions: isCount(leaseTransitions) ? leaseTransitions : 0,
  };
}

interface LeaseFields {
  readonly holderIdentity?: unknown;
  readonly leaseDurationSeconds?: unknown;
  readonly acquireTime?: unknown;
  readonly renewTime?: unknown;
  readonly leaseTransitions?: unknown;
}

function durationOf(seconds: unknown): number {
  if (typeof seconds !== 'number' || !(seconds > 0)) return DEFAULT_LEASE_DURATION_MS;
  return Math.min(Math.max(seconds * 1000, MIN_DURATION_MS), MAX_DURATION_MS);
}

function timeIn(value: unknown): string {
  const isTime =
    typeof value === 'string' && value.length <= 40 && !Number.isNaN(Date.parse(value));
  return isTime ? value : '';
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_TRANSITIONS;
}

/**
 * A Lease of another owner, and since when this version of it has been observed, on the monotonic clock of the
 * observer.
 */
export interface LeaseObservation {
  readonly version: string;
  readonly sinceMs: number;
}

/**
 * Returns the observation after another read. A Lease is valid while its renewTime keeps changing. As in leader
 * election, the clocks of the owner and the observer are not compared.
 */
export function observeLease(
  before: LeaseObservation | undefined,
  { uid, holderIdentity, renewTime, transitions }: OwnerLease,
  nowMs: number,
): LeaseObservation {
  const version = JSON.stringify([uid, holderIdentity, renewTime, transitions]);
  return before?.version === version ? before : { version, sinceMs: nowMs };
}

/**
 * Returns the time until the Lease of another owner expires; 0 if it has expired. It expires if it was not renewed for
 * its duration since this version was first observed. It counts as expired at once if its renewTime is older than clock
 * skew could explain.
 */
export function expiresInMs(
  lease: OwnerLease,
  { sinceMs }: LeaseObservation,
  { nowMs, now }: { readonly nowMs: number; readonly now: Date },
): number {
  if (lease.holderIdentity === '' || isLongExpired(lease, now)) return 0;
  return Math.max(0, sinceMs + lease.durationMs - nowMs);
}

/** Reports whether the Lease has expired even with the maximum clock skew. */
export function isLongExpired({ renewTime, durationMs }: OwnerLease, now: Date): boolean {
  const ageMs = now.getTime() - Date.parse(renewTime);
  return ageMs > durationMs + MAX_CLOCK_SKEW_MS;
}

/** Returns a new Lease with this owner. The identity may be a placeholder `(…)`. */
export function newOwnerLease(holderIdentity: string, durationMs: number): KubeObject {
  const lease: KubeObject & { readonly spec: object } = {
    apiVersion: RESOURCES.lease.apiVersion,
    kind: RESOURCES.lease.kind,
    metadata: { ...OWNER_LEASE, labels: MANAGED_BY },
    spec: { holderIdentity, leaseDurationSeconds: Math.ceil(durationMs / 1000) },
  };
  return lease;
}

/** Returns the Lease, acquired or renewed now. `before` is absent if there is none. */
export function renewedLease(
  holderIdentity: string,
  durationMs: number,
  before: OwnerLease | undefined,
  now: Date,
): KubeObject {
  const { metadata, ...lease } = newOwnerLease(holderIdentity, durationMs) as OwnLease;
  const isRenewal = before?.holderIdentity === holderIdentity;
  const renewTime = microTimeText(now);
  const acquireTime = isRenewal && before.acquireTime !== '' ? before.acquireTime : renewTime;
  const leaseTransitions = (before?.transitions ?? 0) + (before === undefined || isRenewal ? 0 : 1);
  const { uid, resourceVersion } = before ?? {};
  const renewed: OwnLease = {
    ...lease,
    metadata: {
      ...metadata,
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
    spec: { ...lease.spec, acquireTime, renewTime, leaseTransitions },
  };
  return renewed;
}

interface OwnLease extends KubeObject {
  readonly spec: object;
}
