/**
 * Event objects (events.k8s.io/v1).
 */
import { createHash } from 'node:crypto';
import { microTimeText, type KubeObject } from '../object.ts';

/** The content of an event. */
export interface EventNote {
  readonly type: 'Normal' | 'Warning';
  /** A stable code such as `HostConflict`. */
  readonly reason: string;
  /** The action that was taken, such as `Prepare`. */
  readonly action: string;
  /** A sentence for users. */
  readonly note: string;
  /**
   * Whether the event reports a lasting state and not a change. It is written once: an existing event with the same
   * content is enough, even from another process. Default false.
   */
  readonly isLasting?: boolean | undefined;
}

/** The series of a repeated event. */
export interface EventSeries {
  readonly count: number;
  readonly lastObservedTime: string;
}

/** The input of {@link eventObject}. */
interface EventContent {
  readonly regarding: KubeObject;
  readonly note: EventNote;
  readonly first: Date;
  readonly series: EventSeries | undefined;
  readonly controller: string;
  readonly instance: string;
}

/** The limits of the API, which rejects an event beyond them. */
const MAX_NOTE_BYTES = 1024;
const MAX_INSTANCE_LENGTH = 128;
const MAX_NAME_LENGTH = 253;
const TAIL_LENGTH = 16;

/** Returns the series for a number of occurrences, or undefined for one. */
export function seriesOf(count: number, last: Date): EventSeries | undefined {
  return count < 2 ? undefined : { count, lastObservedTime: microTimeText(last) };
}

/** Returns a new Event object. Its name is unique, except that the name of a lasting state is a hash of the content. */
export function eventObject(content: EventContent): KubeObject {
  const { regarding, note, first, series, controller, instance } = content;
  const { name, namespace, uid, resourceVersion } = regarding.metadata;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    // Events of cluster-scoped objects are in `default`.
    metadata: { name: eventName(name, tailOf(content)), namespace: namespace ?? 'default' },
    eventTime: microTimeText(first),
    ...(series === undefined ? {} : { series }),
    type: note.type,
    reason: note.reason,
    action: note.action,
    note: truncatedNote(note.note),
    regarding: {
      apiVersion: regarding.apiVersion,
      kind: regarding.kind,
      name,
      namespace,
      uid,
      resourceVersion,
    },
    reportingController: controller,
    reportingInstance: instance.slice(0, MAX_INSTANCE_LENGTH),
  } as KubeObject;
}

function eventName(name: string, tail: string): string {
  const head = name.slice(0, MAX_NAME_LENGTH - tail.length - 1).replace(/[^a-z0-9]+$/, '');
  return `${head}.${tail}`;
}

function tailOf({ regarding, note, controller }: EventContent): string {
  if (note.isLasting !== true) {
    return crypto.randomUUID().replaceAll('-', '').slice(0, TAIL_LENGTH);
  }
  const { type, reason, action } = note;
  const content = [regarding.metadata.uid, type, reason, action, note.note, controller].join('\n');
  return createHash('sha256').update(content).digest('hex').slice(0, TAIL_LENGTH);
}

/** Truncates at the last whole character within the limit. */
function truncatedNote(note: string): string {
  const bytes = Buffer.from(note);
  if (bytes.length <= MAX_NOTE_BYTES) return note;
  const budget = MAX_NOTE_BYTES - Buffer.byteLength('…');
  return `${bytes
    .subarray(0, budget)
    .toString()
    .replace(/\uFFFD+$/, '')}…`;
}
