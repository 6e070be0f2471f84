/**
 * When an Exposure is reconciled again although nothing has changed. Pure.
 */
import type { Reconciled } from './reconcile-exposure.ts';

/** In milliseconds; undefined: when something changes. */
export type RequeueAfterMs = number | undefined;

/** Secrets are not watched: a missing one is read again after this time. */
const MISSING_MS = 5_000;

/** Not everything in a tenant is watched, so that an Exposure is reconciled every `resyncMs` at the latest. */
export function requeueAfterMs(
  { observation, routed, preparation, tenant }: Reconciled,
  resyncMs: number,
): number {
  const isMissing = observation.reading.findings.some(({ severity }) => severity === 'error');
  return soonest(
    routed.requeueAfterMs,
    preparation.requeueAfterMs,
    isMissing ? MISSING_MS : undefined,
    tenant?.requeueAfterMs,
    resyncMs,
  );
}

/** The first of these. */
export function soonest(...delaysMs: readonly RequeueAfterMs[]): number {
  return Math.min(...delaysMs.flatMap((ms) => ms ?? []));
}
