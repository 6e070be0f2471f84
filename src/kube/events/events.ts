/**
 * Records events, which `kubectl describe` shows.
 *
 * Best effort by design. Nothing waits for an event, and an event that cannot be written is logged and dropped.
 * Repetitions are counted in a series, and the number of events per object is limited.
 */
import { systemClock, type Clock } from '../../clock/clock.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { KubeClient } from '../client/client.ts';
import { EventLimiter } from './limiter.ts';
import { eventObject, seriesOf, type EventNote, type EventSeries } from './event-object.ts';
import { isKubeError } from '../kube-error.ts';
import { keyText, type KubeObject, type ObjectKey } from '../object.ts';
import { RESOURCES } from '../resource.ts';
import { WorkQueue } from '../work-queue.ts';

interface EventRecorderOptions {
  readonly client: KubeClient;
  /** The reporting controller, such as `snicket.dev/operator`. */
  readonly controller: string;
  /** The reporting instance, such as the name of the pod. */
  readonly instance: string;
  readonly logger: Logger;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Default: the system time. */
  readonly now?: () => Date;
}

/** Totals for metrics. */
interface EventNumbers {
  readonly recorded: number;
  readonly written: number;
  /** Not written as separate events, because their object exceeded its limit. */
  readonly limited: number;
  /** Dropped after errors. */
  readonly failed: number;
}

/** Repetitions within this time form one series. */
const SERIES_MS = 600_000;

/** The number of attempts before an event is dropped. After that it is too old to be useful. */
const MAX_ATTEMPTS = 3;

/** A recorded event and its repetitions. */
interface RecordedEvent {
  /** Only the fields that an event names, since the record outlives many versions of the object. */
  readonly regarding: KubeObject;
  readonly note: EventNote;
  readonly first: Date;
  /** The Event object, once written. */
  event: ObjectKey | undefined;
  count: number;
  last: Date;
  lastMs: number;
  attempts: number;
}

/** Writes events to one server. */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #clock: Clock;
  readonly #now: () => Date;
  readonly #queue: WorkQueue;
  readonly #limiter: EventLimiter;
  /** The least recently repeated first. */
  readonly #recorded = new Map<string, RecordedEvent>();
  readonly #numbers = { recorded: 0, written: 0, limited: 0, failed: 0 };

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#now = options.now ?? (() => this.#clock.now());
    this.#limiter = new EventLimiter(this.#clock);
    this.#queue = new WorkQueue({
      clock: this.#clock,
      // Debug only: the final failure is logged as a warning.
      onFailure: ({ error, retryInMs }) =>
        options.logger.debug('event delayed', { error, retryInMs }),
    });
  }

  /** Records an event about an object. Never fails and never blocks. */
  record(regarding: KubeObject, note: EventNote): void {
    this.#numbers.recorded++;
    this.#removeOld();
    const key = [regarding.metadata.uid, note.type, note.reason, note.action, note.note].join('\n');
    const now = this.#now();
    const known = this.#recorded.get(key);
    const recorded = known ?? {
      regarding: named(regarding),
      note,
      first: now,
      event: undefined,
      count: 0,
      last: now,
      lastMs: 0,
      attempts: 0,
    };
    Object.assign(recorded, { count: recorded.count + 1, last: now, attempts: 0 });
    recorded.lastMs = this.#clock.nowMs();
    this.#recorded.delete(key);
    this.#recorded.set(key, recorded);
    if (this.#limiter.admits(regarding.metadata.uid ?? keyText(regarding.metadata))) {
      this.#queue.add(key);
    } else {
      // Counted in the series, so that the next event that is written includes it.
      this.#numbers.limited++;
    }
  }

  /** Writes events until the signal aborts. Events recorded earlier are written too. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#queue.run((key) => this.#write(key, signal), { concurrency: 2, signal });
  }

  /** Returns the current totals. */
  numbers(): EventNumbers {
    return { ...this.#numbers };
  }

  async #write(key: string, signal: AbortSignal): Promise<void> {
    const recorded = this.#recorded.get(key);
    if (recorded === undefined) return;
    try {
      recorded.event = await this.#written(recorded, signal);
      this.#numbers.written++;
    } catch (error) {
      if (++recorded.attempts < MAX_ATTEMPTS) throw error;
      this.#numbers.failed++;
      const { reason, note } = recorded.note;
      this.#options.logger.warn('event not written', { reason, note, error });
    }
  }

  async #written(recorded: RecordedEvent, signal: AbortSignal): Promise<ObjectKey> {
    const { client, controller, instance } = this.#options;
    const { regarding, note, first, count, last, event } = recorded;
    const series: EventSeries | undefined = seriesOf(count, last);
    if (event !== undefined && series !== undefined) {
      try {
        await client.patch(RESOURCES.event, event, 'merge', { series }, { signal });
        return event;
      } catch (error) {
        // Events are short-lived. The series continues in a new event.
        if (!isKubeError(error, 'NotFound')) throw error;
      }
    }
    const object = eventObject({ regarding, note, first, series, controller, instance });
    const { name, namespace } = object.metadata;
    try {
      await client.create(RESOURCES.event, object, { signal });
    } catch (error) {
      // Written by another process, or some time ago.
      if (note.isLasting !== true || !isKubeError(error, 'AlreadyExists')) throw error;
    }
    return { name, namespace };
  }

  #removeOld(): void {
    const oldestMs = this.#clock.nowMs() - SERIES_MS;
    for (const [key, { lastMs }] of this.#recorded) {
      if (lastMs > oldestMs) return;
      this.#recorded.delete(key);
      this.#queue.forget(key);
    }
  }
}

function named({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
  };
}
