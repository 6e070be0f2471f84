/**
 * The record of what was written into somebody's object, kept on that object: how every field was before, so that it can
 * be so again. It is written together with the fields, in one request: there is never one without the other.
 */
import * as z from 'zod';
import type { KubeObject } from '../../kube/object.ts';
import { isOwnField } from './own-fields.ts';

/** Where it is kept. */
export const RECORD_ANNOTATION = 'snicket.dev/prepared';

/** All annotations of an object may have 256 KiB together, and others have theirs. */
const MAX_LENGTH = 32 * 1024;

const path = z.array(z.string().min(1).max(253)).min(2).max(16);

/** How many names of the path lead to the block that was not there. Absent: only the field itself was not. */
const block = z.int().min(2).max(15).optional();

const valueRecord = z.strictObject({
  path,
  block,
  wrote: z.union([z.string(), z.number(), z.boolean()]),
  /** Absent: the field was not there. */
  was: z.json().optional(),
});

const listRecord = z.strictObject({
  path,
  block,
  /** Absent: nothing had to be added. */
  entries: z.array(z.strictObject({ entry: z.json(), was: z.json().optional() })).max(64),
  /** Whether there was no such list. */
  absent: z.boolean().optional(),
});

const record = z.strictObject({
  exposure: z.string().min(1).max(600),
  fields: z.array(z.union([valueRecord, listRecord])).max(64),
});

/** What was written, and for whom. */
export interface PreparationRecord {
  /** `namespace/name`. */
  readonly exposure: string;
  readonly fields: readonly FieldRecord[];
}

/** One field. */
export type FieldRecord = ValueRecord | ListRecord;

/** What is kept of any field. */
interface PlacedRecord {
  readonly path: readonly string[];
  /** The length of the path of the block around it that was not there. Absent: all around it was there. */
  readonly block?: number | undefined;
}

/** A field with one value. */
export interface ValueRecord extends PlacedRecord {
  readonly wrote: string | number | boolean;
  /** Absent: the field was not there. */
  readonly was?: unknown;
}

/** A list that others have entries in. */
export interface ListRecord extends PlacedRecord {
  readonly entries: readonly { readonly entry: unknown; readonly was?: unknown }[];
  /** Whether there was no such list. */
  readonly absent?: boolean | undefined;
}

/** The record on an object: undefined if there is none, `unreadable` if it is one of nobody's making. */
export function recordOf(object: KubeObject): PreparationRecord | 'unreadable' | undefined {
  const text = object.metadata.annotations?.[RECORD_ANNOTATION];
  if (text === undefined) return undefined;
  if (text.length > MAX_LENGTH) return 'unreadable';
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'unreadable'; // said so by whoever asked
  }
  const { data } = record.safeParse(value);
  const isOwn = data?.fields.every((field) => isOwnField(object, field.path)) === true;
  return data !== undefined && isOwn ? data : 'unreadable';
}

/** The record as it is kept; undefined if it is longer than an annotation should be. */
export function recordText(of: PreparationRecord): string | undefined {
  const text = JSON.stringify(of);
  return text.length > MAX_LENGTH ? undefined : text;
}
