/**
 * The Lease in a tenant that names its owner: the one Exposure, of one management cluster, that may write there. Pure.
 *
 * Anyone in the tenant can write this Lease, and its API server can send anything. What is read from it is therefore
 * bounded, and only decides whether Snicket waits, and for how long.
 */
import { MANAGED_BY } from '../api/labels.ts';
import { microTimeText, type KubeObject } from '../kube/object.ts';
import { RESOURCES } from '../kube/resource.ts';
import { quoted } from '../text/quote.ts';

/** Its name. */
export const OWNER_LEASE = { name: 'snicket-owner', namespace: 'kube-system' } as const;

/** How long an owner that does not renew keeps a tenant, by default: long enough for an upgrade of its cluster. */
export const DEFAULT_LEASE_DURATION_MS = 900_000;

/** A shorter duration is not believed: it would have the Lease read all the time. */
const MIN_DURATION_MS = 15_000;

/** No Lease is waited for longer than this, no matter what it says. */
const MAX_DURATION_MS = 3_600_000;

/** The clocks of two management clusters are trusted to differ by less than this. */
const MAX_CLOCK_SKEW_MS = 3_600_000;

/** A uid, a namespace and a name are shorter. */
const MAX_IDENTITY_LENGTH = 512;

const MAX_TRANSITIONS = 2 ** 31 - 2;

/** What is believed of a Lease. */
export interface OwnerLease {
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  /** Empty: no owner. Cut off if it is too long for an identity. */
  readonly holderIdentity: string;
  readonly durationMs: number;
  /** Empty if it is not a time. */
  readonly acquireTime: string;
  readonly renewTime: string;
  readonly transitions: number;
}

/** The identity of an Exposure. The uid of Namespace `kube-system` identifies its management cluster. */
export function ownerIdentity(clusterId: string, exposure: string): string {
  return `${clusterId}/${exposure}`;
}

/** The key of the Exposure, `namespace/name`, if the identity belongs to this management cluster. */
export function exposureOfCluster(holderIdentity: string, clusterId: string): string | undefined {
  const prefix = `${clusterId}/`;
  return holderIdentity.startsWith(prefix) ? holderIdentity.slice(prefix.length) : undefined;
}

/** The owner in words, for messages. */
export function ownerText(holderIdentity: string): string {
  const [, cluster, exposure] = /^([\w-]{1,64})\/([^/]+\/[^/]+)$/.exec(holderIdentity) ?? [];
  if (cluster === undefined || exposure === undefined) return `"${quoted(holderIdentity, 128)}"`;
  return `Exposure ${quoted(exposure, 128)} of management cluster ${cluster}`;
}

/** What is believed of a Lease as the server sent it. */
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

/** Another owner's Lease, and since when this version of it has been seen, on the observer's monotonic clock. */
export interface LeaseObservation {
  readonly version: string;
  readonly sinceMs: number;
}

/**
 * The observation after another read. A Lease is alive for as long as its renewTime changes: the clock of its owner is not
 * compared with the observer's, as in leader election.
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
 * How long until another owner's Lease expires; 0 if it has. It expires when it was not renewed for its duration since it
 * was first seen. One that was renewed so long ago that no clock skew explains it has expired at once.
 */
export function expiresInMs(
  lease: OwnerLease,
  { sinceMs }: LeaseObservation,
  { nowMs, now }: { readonly nowMs: number; readonly now: Date },
): number {
  if (lease.holderIdentity === '' || isLongExpired(lease, now)) return 0;
  return Math.max(0, sinceMs + lease.durationMs - nowMs);
}

/** Whether the Lease has expired by any clock. */
export function isLongExpired({ renewTime, durationMs }: OwnerLease, now: Date): boolean {
  const ageMs = now.getTime() - Date.parse(renewTime);
  return ageMs > durationMs + MAX_CLOCK_SKEW_MS;
}

/** A Lease with this owner, as it is created; `(…)` may stand for an identity that is not known. */
export function newOwnerLease(holderIdentity: string, durationMs: number): KubeObject {
  const lease: KubeObject & { readonly spec: object } = {
    apiVersion: RESOURCES.lease.apiVersion,
    kind: RESOURCES.lease.kind,
    metadata: { ...OWNER_LEASE, labels: MANAGED_BY },
    spec: { holderIdentity, leaseDurationSeconds: Math.ceil(durationMs / 1000) },
  };
  return lease;
}

/** The same Lease acquired or renewed now. `before` is absent if there is none. */
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
