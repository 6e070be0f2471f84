/**
 * The record of what Snicket writes into the objects of a provider: the previous value of every field, so that cleanup can
 * restore it. It is an annotation of the Exposure. The provider's object does not carry it, because k0smotron copies the
 * annotations of its Cluster into the pod template, and status does not, because a restore from backup drops status.
 *
 * The record is written before the object and shortened after it. So it may name a value that was never written, and never
 * misses one that was.
 */
import * as z from 'zod';
import type { KubeObject } from '../../kube/object.ts';
import { groupOf } from '../../kube/resource.ts';
import { isOwnRecord } from './own-fields.ts';

/** The annotation of an Exposure. */
export const RECORD_ANNOTATION = 'snicket.dev/preparation';

/** The format that this version writes. A change of the schema below is another version. */
export const RECORD_VERSION = 1;

/** All annotations of an object may have 256 KiB together, and others have theirs. */
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

/** What was written for one Exposure. */
export interface PreparationRecord {
  /** At most one for each object. */
  readonly objects: readonly ObjectRecord[];
}

/** What was written into one object, in the namespace of the Exposure. */
export interface ObjectRecord {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  /** An object of the same name with another uid was not written. */
  readonly uid: string;
  readonly fields: readonly FieldRecord[];
}

/** One field. */
export type FieldRecord = ValueRecord | ListRecord;

/** What is recorded of any field. */
interface PlacedRecord {
  readonly path: readonly string[];
  /** The length of the path of the outermost block that did not exist. Absent: everything around the field existed. */
  readonly block?: number | undefined;
}

/** A field with one value. */
export interface ValueRecord extends PlacedRecord {
  /** The value, and until the object was seen to have it, the values that Snicket wrote before. */
  readonly wrote: readonly (string | number | boolean)[];
  /** Absent: the field did not exist. */
  readonly was?: unknown;
}

/** A list with entries of others. */
export interface ListRecord extends PlacedRecord {
  readonly entries: readonly { readonly entry: unknown; readonly was?: unknown }[];
  /** Whether the list did not exist. */
  readonly absent?: boolean | undefined;
}

/** Why a record cannot be used. Its text must stay as it is. */
export interface RecordProblem {
  readonly problem: 'unreadable' | 'newer';
  /** The version of a newer record. */
  readonly version?: number;
}

const NOTHING: PreparationRecord = { objects: [] };

/**
 * The record of an Exposure; one without objects if it has none. A record that names another Exposure was copied together
 * with that Exposure, and counts as none.
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
    // Not JSON, or nested deeper than the stack: every author of the Exposure can write this. The caller reports it.
    return { problem: 'unreadable' };
  }
}

/** Whether Snicket writes all of these fields, with such entries. */
function areOwn(objects: readonly ObjectRecord[]): boolean {
  return objects.every((object) => object.fields.every((field) => isOwnRecord(object, field)));
}

/** Whether a record can be used. */
export function isUsable(found: PreparationRecord | RecordProblem): found is PreparationRecord {
  return !('problem' in found);
}

/** The text of a record; null if there is nothing to record, undefined if it is too long for an annotation. */
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

/** What was written into an object; nothing for an object of the same name with another uid. */
export function fieldsOf(
  { objects }: PreparationRecord,
  object: KubeObject,
): readonly FieldRecord[] {
  return objects.find((one) => isRecordOf(one, object))?.fields ?? [];
}

/** Whether it is the record of this object. */
export function isRecordOf(one: ObjectRecord, object: KubeObject): boolean {
  return isRecordOfName(one, object) && one.uid === object.metadata.uid;
}

/** Whether it is the record of this object, or of an earlier one with the same name. */
export function isRecordOfName(
  one: ObjectRecord,
  { apiVersion, kind, metadata }: KubeObject,
): boolean {
  return one.kind === kind && one.group === groupOf(apiVersion) && one.name === metadata.name;
}

/** The record of an object with these fields. */
export function objectRecordOf(
  { apiVersion, kind, metadata: { name, uid = '' } }: KubeObject,
  fields: readonly FieldRecord[],
): ObjectRecord {
  return { group: groupOf(apiVersion), kind, name, uid, fields };
}
