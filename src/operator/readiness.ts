/**
 * Logs why a process is not ready: at once, and then rarely.
 */
import type { Clock } from '../clock/clock.ts';
import type { Logger } from '../telemetry/log.ts';

interface ReadinessOptions {
  /** Why the process is not ready, as a sentence; undefined if it is ready. */
  readonly notReady: () => string | undefined;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly clock: Clock;
}

const PERIOD_MS = 1_000;
/** Repeated, so that it stays near the end of a log. */
const REPEAT_MS = 600_000;
/** A changed reason is logged sooner, but not every second. */
const CHANGED_MS = 30_000;

/** Logs readiness until the returned function is called. */
export function logReadiness({ notReady, log, clock }: ReadinessOptions): () => void {
  let logged: { readonly reason: string; readonly atMs: number } | undefined;
  return clock.every(PERIOD_MS, () => {
    const reason = notReady();
    if (reason === undefined) {
      if (logged !== undefined) log.info('ready');
      logged = undefined;
      return;
    }
    const atMs = clock.nowMs();
    const silentMs = logged?.reason === reason ? REPEAT_MS : CHANGED_MS;
    if (logged !== undefined && atMs - logged.atMs < silentMs) return;
    logged = { reason, atMs };
    log.warn('not ready', { reason });
  });
}
