/**
 * When an Exposure is reconciled again although nothing has changed.
 */
import type { Poll, PollBackoff } from './poll-backoff.ts';
import type { AppliedExposure } from './reconcile-exposure.ts';

/** In milliseconds; undefined: when something changes. */
export type RequeueAfterMs = number | undefined;

/** The first delay until a control plane with errors is read again: its Secrets are not watched. */
const MISSING_MS = 5_000;
/** Findings about objects that are watched. */
const WATCHED: ReadonlySet<string> = new Set(['ServiceMissing', 'ServiceInvalid']);

/** Not everything in a tenant is watched, so that an Exposure is reconciled every `resyncMs` at the latest. */
export function requeueAfterMs(
  { observation, reconciledRoutes, preparation, tenant }: AppliedExposure,
  resyncMs: number,
  backoff: Pick<PollBackoff, 'delayMs'>,
): RequeueAfterMs {
  const missing = observation.reading.findings.find(
    ({ severity, code }) => severity === 'error' && !WATCHED.has(code),
  );
  const polls: readonly (Poll | undefined)[] = [
    missing && { reason: missing.code, firstMs: MISSING_MS },
    preparation.poll,
    tenant?.poll,
  ];
  return soonest(
    reconciledRoutes.requeueAfterMs,
    preparation.requeueAfterMs,
    tenant?.requeueAfterMs,
    backoff.delayMs(polls.filter((poll) => poll !== undefined)),
    resyncMs,
  );
}

/** The shortest of these delays; undefined if there are none. */
export function soonest(...delaysMs: readonly RequeueAfterMs[]): RequeueAfterMs {
  const known = delaysMs.filter((ms) => ms !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
