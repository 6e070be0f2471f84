/**
 * The Lease: who holds it, and whether that is still so.
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

/** A Lease as somebody saw it, and when, on his own clock. */
export interface LeaseSighting {
  readonly lease: Lease;
  /** When this version was first seen. */
  readonly sinceMs: number;
}

/**
 * What is known after another look. The clock of the holder is never compared with ours: a lease is alive for as long as
 * its version keeps changing before our eyes.
 */
export function sighted(
  before: LeaseSighting | undefined,
  lease: Lease,
  nowMs: number,
): LeaseSighting {
  const isSame = before?.lease.metadata.resourceVersion === lease.metadata.resourceVersion;
  return before !== undefined && isSame ? before : { lease, sinceMs: nowMs };
}

/**
 * How long until the lease may be taken; 0 if it is free, or its holder has been silent for as long as he said himself.
 * A holder who did not say gets `usualMs`.
 */
export function freeInMs(
  { lease, sinceMs }: LeaseSighting,
  nowMs: number,
  usualMs: number,
): number {
  const { holderIdentity = '', leaseDurationSeconds } = lease.spec ?? {};
  if (holderIdentity === '') return 0;
  const durationMs = leaseDurationSeconds === undefined ? usualMs : leaseDurationSeconds * 1000;
  return Math.max(0, sinceMs + durationMs - nowMs);
}

/** The lease held by us from now on, or still. */
export function heldBy(
  identity: string,
  before: Lease,
  { durationMs, now }: { readonly durationMs: number; readonly now: Date },
): Lease {
  const isOurs = before.spec?.holderIdentity === identity;
  const renewTime = microTimeText(now);
  const transitions = before.spec?.leaseTransitions ?? 0;
  return {
    ...before,
    spec: {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(durationMs / 1000),
      acquireTime: (isOurs ? before.spec?.acquireTime : undefined) ?? renewTime,
      renewTime,
      leaseTransitions: isOurs || before.spec === undefined ? transitions : transitions + 1,
    },
  };
}

/** The lease given back: whoever looks next may take it. */
export function released(before: Lease, now: Date): Lease {
  const { leaseTransitions = 0 } = before.spec ?? {};
  return {
    ...before,
    // As client-go leaves it: a duration of 0 would be refused.
    spec: {
      holderIdentity: '',
      leaseDurationSeconds: 1,
      renewTime: microTimeText(now),
      leaseTransitions,
    },
  };
}
