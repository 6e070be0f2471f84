/**
 * What is said of Exposures: their status, and to people when Ready turns.
 */
import type { ExposureStatus } from '../../api/exposure.ts';
import { setCondition } from '../../kube/conditions.ts';
import type { EventRecorder } from '../../kube/events.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { ManagementCluster } from '../management/management-cluster.ts';
import { StatusWriter } from '../status-writer.ts';
import { nextStatus, type StatusInput } from './exposure-status.ts';
import { isTrouble, readyVerdict } from './verdicts.ts';

/** What reports are made with. */
export interface ExposureReportsOptions {
  readonly management: Pick<ManagementCluster, 'client' | 'exposures'>;
  readonly events: EventRecorder;
  readonly log: Logger;
}

/** The reports on all Exposures. */
export class ExposureReports {
  readonly #options: ExposureReportsOptions;
  readonly #statuses: StatusWriter<ExposureStatus>;

  constructor(options: ExposureReportsOptions) {
    this.#options = options;
    this.#statuses = new StatusWriter(options.management.client);
  }

  /** The status as it is now. */
  statusOf(object: KubeObject): ExposureStatus | undefined {
    return this.#statuses.statusOf(this.#seen(object));
  }

  /** The object as our own last report has left it: a patch of an older version would be a conflict. */
  latest(object: KubeObject): KubeObject {
    return this.#statuses.latest(this.#seen(object));
  }

  /** Whether a change that the watch tells is somebody else's to the status. */
  isForeign(object: KubeObject, previous: KubeObject): boolean {
    return this.#statuses.isForeign(object, previous);
  }

  forget(key: string): void {
    this.#statuses.forget(key);
  }

  /** Writes the status, if it says something new, and tells people when Ready turns. @throws KubeError */
  async report(
    object: KubeObject,
    input: Omit<StatusInput, 'generation'>,
    signal: AbortSignal,
  ): Promise<void> {
    const { events, log } = this.#options;
    const { metadata } = object;
    const before = this.statusOf(object);
    const generation = metadata.generation ?? 0;
    const status = nextStatus(before, { ...input, generation }, new Date());
    if (!(await this.#statuses.write(this.#seen(object), status, signal))) return;
    const ready = readyVerdict(input.verdicts);
    const wasReady = before?.conditions?.find(({ type }) => type === 'Ready');
    if (wasReady?.status === ready.status && wasReady.reason === ready.reason) return;
    const isReady = ready.status === 'True';
    if (isReady || isTrouble(input.verdicts, wasReady?.status === 'True')) {
      events.record(object, {
        type: isReady ? 'Normal' : 'Warning',
        ...{ action: 'Expose', reason: ready.reason, note: ready.message },
      });
    }
    log.info('exposure', { exposure: keyText(metadata), ready: isReady, reason: ready.reason });
  }

  /** Says that an Exposure is on its way out, and what it waits for. @throws KubeError */
  async reportLeaving(object: KubeObject, because: string, signal: AbortSignal): Promise<void> {
    const before = this.statusOf(object);
    const observedGeneration = object.metadata.generation ?? 0;
    const ready = { type: 'Ready', status: 'False', reason: 'Leaving', message: because } as const;
    const conditions = setCondition(
      before?.conditions ?? [],
      { ...ready, observedGeneration },
      new Date(),
    );
    await this.#statuses.write(this.#seen(object), { ...before, conditions }, signal);
  }

  /** As the watch has it by now. */
  #seen(object: KubeObject): KubeObject {
    return this.#options.management.exposures.get(object.metadata) ?? object;
  }
}
