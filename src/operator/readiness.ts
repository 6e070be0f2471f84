/**
 * Says in the log what keeps a process from its work: at once, and then rarely.
 */
import type { Clock } from '../clock/clock.ts';
import type { Logger } from '../telemetry/log.ts';

/** What it takes. */
export interface ReadinessOptions {
  /** A sentence; nothing if all is well. */
  readonly notReady: () => string | undefined;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly clock: Clock;
}

const LOOK_MS = 1_000;
/** Whoever looks at the end of a log should still find it. */
const REPEAT_MS = 600_000;
/** Another sentence for the same trouble is news, but not each time. */
const CHANGED_MS = 30_000;

/** Looks from now on, until the returned function is called. */
export function logReadiness({ notReady, log, clock }: ReadinessOptions): () => void {
  let told: { readonly because: string; readonly atMs: number } | undefined;
  return clock.every(LOOK_MS, () => {
    const because = notReady();
    if (because === undefined) {
      if (told !== undefined) log.info('ready');
      told = undefined;
      return;
    }
    const atMs = clock.nowMs();
    const silentMs = told?.because === because ? REPEAT_MS : CHANGED_MS;
    if (told !== undefined && atMs - told.atMs < silentMs) return;
    told = { because, atMs };
    log.warn('not ready', { because });
  });
}
