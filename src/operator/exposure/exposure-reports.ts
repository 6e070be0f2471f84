/**
 * Reports on Exposures: the status, and events when Ready, KonnectivityReady or Reachable changes.
 */
import type { ExposureStatus } from '../../api/exposure.ts';
import type { Clock } from '../../clock/clock.ts';
import { findCondition, setCondition } from '../../kube/conditions.ts';
import type { EventRecorder } from '../../kube/events/events.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { StatusWriter } from '../../kube/status-writer.ts';
import { nextStatus, refusedStatus } from './exposure-status.ts';
import {
  deservesWarning,
  readyState,
  type ConditionState,
  type ConditionStates,
} from '../../reconcile/conditions/condition-state.ts';
import type { ExposureReport } from '../../reconcile/report.ts';

/** The reason of Ready while a deleted Exposure is cleaned up. */
export const CLEANING_UP = 'CleaningUp';

/** Reports whether a condition with this reason is True although only a part of the path works. */
function isPartial(reason: string): boolean {
  return reason === 'Degraded' || reason === 'DnsMismatch';
}

/** The time that a change must last before an event: most changes that last less are reverted. */
const TRANSIENT_MS = 30_000;

interface ExposureReportsOptions {
  readonly statuses: StatusWriter<ExposureStatus>;
  readonly events: EventRecorder;
  readonly log: Logger;
  readonly clock: Clock;
}

/** The state of the reports on one Exposure. */
export interface ReportState {
  /** Whether this process has reported on the Exposure. */
  isReported: boolean;
  /** The time since which the DaemonSet of an Exposure that was Ready has not been observed. */
  unobservedSinceMs?: number | undefined;
}

/** Writes the status of all Exposures, and records their events. */
export class ExposureReports {
  readonly #options: ExposureReportsOptions;

  constructor(options: ExposureReportsOptions) {
    this.#options = options;
  }

  /**
   * Writes the status if it has changed, and records an event when Ready changes. An Exposure that was not Ready before this
   * process started, and still is not, is logged once. @throws KubeError
   */
  async report(
    object: KubeObject,
    state: ReportState,
    input: ExposureReport,
    signal: AbortSignal,
  ): Promise<void> {
    const { statuses, events, log } = this.#options;
    const key = keyText(object.metadata);
    const before = statuses.statusOf(object);
    const generation = object.metadata.generation ?? 0;
    const status = nextStatus(before, { ...input, generation }, this.#options.clock.now());
    const written = await this.#write(object, status, signal);
    const ready = written || readyState(input.conditions);
    const isTransient = this.#isTransient(object, state, ready, before);
    const isFirst = isFirstReport(state);
    const wasReady = findCondition(before?.conditions, 'Ready');
    const isSame = wasReady?.status === ready.status && wasReady.reason === ready.reason;
    const isReady = ready.status === 'True';
    const isWarning = deservesWarning(input.conditions, wasReady?.status === 'True');
    if (written !== false) this.#recordPathEvents(object, before, input.conditions, ready);
    if (written === false || isSame) {
      const { reason, message } = ready;
      const level = isWarning ? 'warn' : 'info';
      if (isFirst && !isReady) log[level]('exposure not ready', { exposure: key, reason, message });
      return;
    }
    if (!isTransient && (isReady || isWarning)) {
      events.record(object, {
        type: isReady ? 'Normal' : 'Warning',
        action: 'Expose',
        reason: ready.reason,
        note: ready.message,
      });
    }
    log.info('readiness changed', { exposure: key, ready: isReady, reason: ready.reason });
  }

  /** Reachable and KonnectivityReady are no part of Ready: an event reports when one of them fails, degrades or recovers. */
  #recordPathEvents(
    object: KubeObject,
    before: ExposureStatus | undefined,
    conditions: ConditionStates,
    ready: ConditionState,
  ): void {
    for (const type of ['KonnectivityReady', 'Reachable'] as const) {
      const { status, reason, message: note } = conditions[type];
      const was = findCondition(before?.conditions, type);
      const isSame = was?.status === status && was.reason === reason;
      // The event about Ready has the same reason where the path is the cause.
      if (isSame || reason === ready.reason) continue;
      const isBad = status === 'False' || isPartial(reason);
      const wasBad = was !== undefined && (was.status === 'False' || isPartial(was.reason));
      if (!isBad && !(wasBad && status === 'True')) continue;
      const event = { type: isBad ? 'Warning' : 'Normal', action: 'Probe', reason, note } as const;
      this.#options.events.record(object, event);
    }
  }

  /**
   * Writes the status. If the API server rejects it, for example because of data from a tenant, a reduced status is written, so
   * that an outdated Ready does not stay. Returns the Ready of the reduced status, or false if there was nothing to write.
   */
  async #write(
    object: KubeObject,
    status: ExposureStatus,
    signal: AbortSignal,
  ): Promise<ConditionState | false | undefined> {
    const { statuses, log, clock } = this.#options;
    try {
      const isNew = await statuses.write(object, status, signal);
      return isNew && undefined;
    } catch (error) {
      if (!isKubeError(error, 'Invalid')) throw error;
      const exposure = keyText(object.metadata);
      log.error('status rejected', { exposure, error });
      const before = statuses.statusOf(object);
      const bare = refusedStatus(before, status, error.message, clock.now());
      const isNew = await statuses.write(object, bare.status, signal);
      return isNew && bare.ready;
    }
  }

  /** Returns the delay until a change has lasted long enough for an event. */
  reportDelayMs({ unobservedSinceMs: sinceMs }: ReportState): number | undefined {
    return sinceMs === undefined
      ? undefined
      : Math.max(1, sinceMs + TRANSIENT_MS - this.#options.clock.nowMs());
  }

  /**
   * Reports whether a change of Ready needs no event: the DaemonSet controller observes a changed DaemonSet a moment later. If that takes
   * long, an event is recorded then.
   */
  #isTransient(
    object: KubeObject,
    state: ReportState,
    ready: ConditionState,
    before: ExposureStatus | undefined,
  ): boolean {
    const { events, clock } = this.#options;
    const sinceMs = state.unobservedSinceMs;
    if (ready.reason !== 'ProxiesNotObserved') {
      state.unobservedSinceMs = undefined;
      return ready.status === 'True' && sinceMs !== undefined;
    }
    const was = findCondition(before?.conditions, 'Ready');
    if (was?.status === 'True') state.unobservedSinceMs = clock.nowMs();
    if (sinceMs !== undefined && clock.nowMs() - sinceMs >= TRANSIENT_MS) {
      state.unobservedSinceMs = undefined;
      const { reason, message: note } = ready;
      events.record(object, { type: 'Warning', action: 'Expose', reason, note });
    }
    return true;
  }

  /** Reports the cleanup of an Exposure, and what it waits for. @throws KubeError */
  async reportCleanup(
    object: KubeObject,
    state: ReportState,
    because: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { statuses, clock, log } = this.#options;
    const before = statuses.statusOf(object);
    const observedGeneration = object.metadata.generation ?? 0;
    const key = keyText(object.metadata);
    const ready = { reason: CLEANING_UP, message: because };
    const wasCleaningUp = before?.conditions?.some(({ reason }) => reason === CLEANING_UP) === true;
    if (isFirstReport(state) && wasCleaningUp) {
      log.warn('exposure not ready', { exposure: key, ...ready });
    }
    const condition = { type: 'Ready', status: 'False', ...ready, observedGeneration } as const;
    const conditions = setCondition(before?.conditions ?? [], condition, clock.now());
    await statuses.write(object, { ...before, conditions }, signal);
  }
}

/** Reports whether this is the first report of this process on the Exposure. */
function isFirstReport(state: ReportState): boolean {
  const isFirst = !state.isReported;
  state.isReported = true;
  return isFirst;
}
