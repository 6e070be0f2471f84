/**
 * An event as the API takes it (events.k8s.io/v1).
 */
import { createHash } from 'node:crypto';
import { microTimeText, type KubeObject } from '../object.ts';

/** What is to be said. */
export interface EventNote {
  readonly type: 'Normal' | 'Warning';
  /** A stable code, as `HostConflict`. */
  readonly reason: string;
  /** What was being done, as `Prepare`. */
  readonly action: string;
  /** A sentence for people. */
  readonly note: string;
  /** That it is so, not that it has just come about: an event that says it already will do, whoever wrote it. Default false. */
  readonly isStanding?: boolean | undefined;
}

/** That it was said more than once. */
export interface EventSeries {
  readonly count: number;
  readonly lastObservedTime: string;
}

/** What goes into an event. */
export interface EventContent {
  readonly regarding: KubeObject;
  readonly note: EventNote;
  readonly first: Date;
  readonly series: EventSeries | undefined;
  readonly controller: string;
  readonly instance: string;
}

/** The limits of the API: beyond them an event is refused. */
const MAX_NOTE_BYTES = 1024;
const MAX_INSTANCE_LENGTH = 128;
const MAX_NAME_LENGTH = 253;
const TAIL_LENGTH = 16;

/** The series of something that was said so often; undefined for once. */
export function seriesOf(count: number, last: Date): EventSeries | undefined {
  return count < 2 ? undefined : { count, lastObservedTime: microTimeText(last) };
}

/** A new event, with a name that no other has; of what is standing, one that is made of what it says. */
export function eventObject(content: EventContent): KubeObject {
  const { regarding, note, first, series, controller, instance } = content;
  const { name, namespace, uid, resourceVersion } = regarding.metadata;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    // An object of the whole cluster has its events in `default`.
    metadata: { name: eventName(name, tailOf(content)), namespace: namespace ?? 'default' },
    eventTime: microTimeText(first),
    ...(series === undefined ? {} : { series }),
    type: note.type,
    reason: note.reason,
    action: note.action,
    note: cut(note.note),
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
  if (note.isStanding !== true) {
    return crypto.randomUUID().replaceAll('-', '').slice(0, TAIL_LENGTH);
  }
  const { type, reason, action } = note;
  const said = [regarding.metadata.uid, type, reason, action, note.note, controller].join('\n');
  return createHash('sha256').update(said).digest('hex').slice(0, TAIL_LENGTH);
}

/** At the last whole character within the limit. */
function cut(note: string): string {
  const bytes = Buffer.from(note);
  if (bytes.length <= MAX_NOTE_BYTES) return note;
  const room = MAX_NOTE_BYTES - Buffer.byteLength('…');
  return `${bytes
    .subarray(0, room)
    .toString()
    .replace(/\uFFFD+$/, '')}…`;
}
