/**
 * The record of what Snicket writes into a provider's objects: the previous value of every field, so that cleanup can
 * restore it. It is an annotation of the Exposure. It is not an annotation of the provider's object, because k0smotron
 * copies the annotations of its Cluster into the pod template. It is not in status, because a restore from backup drops
 * status.
 *
 * Snicket writes the record before the object, and shortens it after the object. The record therefore contains every
 * value that was written, and possibly others.
 */
import * as z from 'zod';
import type { KubeObject } from '../../kube/object.ts';
import { groupOf } from '../../kube/resource.ts';
import { isOwnRecord } from './own-fields.ts';

/** The annotation of the Exposure with the record. */
export const RECORD_ANNOTATION = 'snicket.dev/preparation';

/** The version of the format. Any change of the schema below requires a new version. */
export const RECORD_VERSION = 1;

/** The limit for all annotations of an object is 256 KiB, and other clients use annotations too. */
const MAX_LENGTH = 32 * 1024;

const path = z.array(z.string().min(1).max(253)).min(2).max(16);
const scalar = z.union([z.string(), z.number(), z.boolean()]);
const block = z.int().min(2).max(15).optional();

const valueRecord = z.strictObject({
  path,
  block,
  wrote: z.array(scalar).min(1).max(16),
  was: scalar.nullable().optional(),
});

const listRecord = z.strictObject({
  path,
  block,
  entries: z.array(z.strictObject({ entry: z.json(), was: z.json().optional() })).max(64),
  absent: z.boolean().optional(),
});

const objectRecord = z.strictObject({
  group: z.string().min(1).max(253),
  kind: z.string().min(1).max(63),
  name: z.string().min(1).max(253),
  uid: z.string().min(1).max(128),
  fields: z.array(z.union([valueRecord, listRecord])).max(64),
});

const record = z.strictObject({
  version: z.literal(RECORD_VERSION),
  exposure: z.string().min(1).max(253),
  objects: z.array(objectRecord).max(16),
});

const anyVersion = z.looseObject({ version: z.int().min(1) });

/** What Snicket has written for one Exposure. */
export interface PreparationRecord {
  /** At most one record for each object. */
  readonly objects: readonly ObjectRecord[];
}

/** What Snicket has written into one object in the namespace of the Exposure. */
export interface ObjectRecord {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  /** An object of the same name with another uid was not written. */
  readonly uid: string;
  readonly fields: readonly FieldRecord[];
}

/** The record of a field. */
export type FieldRecord = ValueRecord | ListRecord;

/** The common part of all field records. */
interface PlacedRecord {
  readonly path: readonly string[];
  /** The length of the path of the outermost parent that did not exist. Absent if all parents existed. */
  readonly block?: number | undefined;
}

/** The record of a field with a single value. */
export interface ValueRecord extends PlacedRecord {
  /** The written value, and until the object was observed with it, the values that Snicket wrote before. */
  readonly wrote: readonly (string | number | boolean)[];
  /** The previous value. Absent if the field did not exist. */
  readonly was?: unknown;
}

/** The record of a list that also has other entries. */
export interface ListRecord extends PlacedRecord {
  readonly entries: readonly { readonly entry: unknown; readonly was?: unknown }[];
  /** Whether the list did not exist. */
  readonly absent?: boolean | undefined;
}

/** Why a record cannot be used. Snicket must not change such a record. */
export interface RecordProblem {
  readonly problem: 'unreadable' | 'newer';
  /** The version of a newer record. */
  readonly version?: number;
}

const NOTHING: PreparationRecord = { objects: [] };

/**
 * Returns the record of an Exposure; an empty record if it has none. A record with the name of another Exposure was
 * copied together with that Exposure, and is ignored.
 */
export function recordOf(exposure: KubeObject): PreparationRecord | RecordProblem {
  const text = exposure.metadata.annotations?.[RECORD_ANNOTATION];
  if (text === undefined) return NOTHING;
  try {
    const value: unknown = JSON.parse(text);
    const { version } = anyVersion.safeParse(value).data ?? {};
    if (version !== undefined && version > RECORD_VERSION) return { problem: 'newer', version };
    const { data } = text.length > MAX_LENGTH ? {} : record.safeParse(value);
    if (data === undefined || !areOwn(data.objects)) return { problem: 'unreadable' };
    return data.exposure === exposure.metadata.name ? { objects: data.objects } : NOTHING;
  } catch {
    // Invalid JSON, or JSON nested too deeply for the stack. Any author of the Exposure can write this. The caller
    // reports it.
    return { problem: 'unreadable' };
  }
}

/** Reports whether Snicket could have written all of these records. */
function areOwn(objects: readonly ObjectRecord[]): boolean {
  return objects.every((object) => object.fields.every((field) => isOwnRecord(object, field)));
}

/** Reports whether a record can be used. */
export function isUsable(found: PreparationRecord | RecordProblem): found is PreparationRecord {
  return !('problem' in found);
}

/** Returns the text of a record; null if there is nothing to record, undefined if it is too long for an annotation. */
export function recordText(
  exposure: KubeObject,
  { objects }: PreparationRecord,
): string | null | undefined {
  const written = objects.filter(({ fields }) => fields.length > 0);
  if (written.length === 0) return null;
  const { name } = exposure.metadata;
  const text = JSON.stringify({ version: RECORD_VERSION, exposure: name, objects: written });
  return text.length > MAX_LENGTH ? undefined : text;
}

/** Returns the records of an object's fields; none for an object of the same name with another uid. */
export function fieldsOf(
  { objects }: PreparationRecord,
  object: KubeObject,
): readonly FieldRecord[] {
  return objects.find((record) => isRecordOf(record, object))?.fields ?? [];
}

/** Reports whether a record belongs to this object. */
function isRecordOf(record: ObjectRecord, object: KubeObject): boolean {
  return isRecordOfName(record, object) && record.uid === object.metadata.uid;
}

/** Reports whether a record belongs to this object, or to an earlier one with the same name. */
export function isRecordOfName(
  record: ObjectRecord,
  { apiVersion, kind, metadata }: KubeObject,
): boolean {
  return (
    record.kind === kind && record.group === groupOf(apiVersion) && record.name === metadata.name
  );
}

/** Returns the record of an object with these fields. */
export function objectRecordOf(
  { apiVersion, kind, metadata: { name, uid = '' } }: KubeObject,
  fields: readonly FieldRecord[],
): ObjectRecord {
  return { group: groupOf(apiVersion), kind, name, uid, fields };
}
