/**
 * The Lease object and its expiry.
 */
import { microTimeText, type KubeObject } from '../object.ts';

/** A Lease of coordination.k8s.io/v1. */
export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

/** An observed version of a Lease. */
export interface LeaseObservation {
  readonly lease: Lease;
  /** When this version was first observed, on the local clock. */
  readonly sinceMs: number;
}

/**
 * Returns the observation after another read. The holder's clock is never compared with the local one: a Lease is
 * renewed whenever its version changes.
 */
export function observeLease(
  before: LeaseObservation | undefined,
  lease: Lease,
  nowMs: number,
): LeaseObservation {
  const isSame = before?.lease.metadata.resourceVersion === lease.metadata.resourceVersion;
  return before !== undefined && isSame ? before : { lease, sinceMs: nowMs };
}

/**
 * Returns how long until the Lease may be taken: 0 if it is free, or if its holder has not renewed it for its duration.
 * If the Lease has no duration, `usualMs` is used.
 */
export function expiresInMs(
  { lease, sinceMs }: LeaseObservation,
  nowMs: number,
  defaultDurationMs: number,
): number {
  const { holderIdentity = '', leaseDurationSeconds } = lease.spec ?? {};
  if (holderIdentity === '') return 0;
  const durationMs =
    leaseDurationSeconds === undefined ? defaultDurationMs : leaseDurationSeconds * 1000;
  return Math.max(0, sinceMs + durationMs - nowMs);
}

/** Returns the Lease with `identity` as its holder, taken or renewed. */
export function acquiredBy(
  identity: string,
  before: Lease,
  { durationMs, now }: { readonly durationMs: number; readonly now: Date },
): Lease {
  const isHolder = before.spec?.holderIdentity === identity;
  const renewTime = microTimeText(now);
  const transitions = before.spec?.leaseTransitions ?? 0;
  return {
    ...before,
    spec: {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(durationMs / 1000),
      acquireTime: (isHolder ? before.spec?.acquireTime : undefined) ?? renewTime,
      renewTime,
      leaseTransitions: isHolder || before.spec === undefined ? transitions : transitions + 1,
    },
  };
}

/** Returns the released Lease, which any process may take. */
export function released(before: Lease, now: Date): Lease {
  const { leaseTransitions = 0 } = before.spec ?? {};
  return {
    ...before,
    // As in client-go. The API server rejects a duration of 0.
    spec: {
      holderIdentity: '',
      leaseDurationSeconds: 1,
      renewTime: microTimeText(now),
      leaseTransitions,
    },
  };
}
