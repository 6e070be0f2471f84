/**
 * From what an object must carry, and what it carries now, to what has to be written. Pure.
 */
import { valueAt } from '../../kube/unstructured.ts';
import { objectText, type KubeObject } from '../../kube/object.ts';
import { groupOf, type Resource } from '../../kube/resource.ts';
import type { Finding } from '../../api/finding.ts';
import { renderObject } from '../../plan/render.ts';
import { otherOwners } from './field-owners.ts';
import { treeOf } from './field-path.ts';
import { hasSameEntries, withEntries } from './list-edit.ts';
import { longListFindings, repeatedEntryFindings, wrongTypeFindings } from './object-findings.ts';
import { pathText, type FieldPath, type FieldWish, type Preparation } from './preparation.ts';
import {
  RECORD_ANNOTATION,
  recordOf,
  recordText,
  type FieldRecord,
  type PreparationRecord,
} from './record.ts';
import { formerValue, leftBlocks, undone } from './undo.ts';

/** One field: what it is, what it should be. */
export interface FieldState {
  readonly path: FieldPath;
  readonly why: string;
  /** Of the object as it is; undefined if it is not there. */
  readonly now: unknown;
  readonly wanted: unknown;
  /** What of it is our wish, the same whatever others write there: the value, or our entries of a list. */
  readonly wish: unknown;
}

/** What has to be written into one object. */
export interface PreparationPlan {
  readonly resource: Resource;
  /** As it is. */
  readonly live: KubeObject;
  readonly fields: readonly FieldState[];
  /** Those of the fields that are not as they should be. */
  readonly differing: readonly FieldState[];
  /** For server-side apply: these fields, the record of how they were, and nothing else. Of this very version. */
  readonly body: KubeObject;
  /** What has to be put back first, as it is not wanted any more. */
  readonly putBack: readonly PutBack[];
  /** Fields that are not wanted any more and stay as they are: not to be lost with our ownership of them. */
  readonly staying: readonly FieldPath[];
  /** Whether there is anything to write. */
  readonly isDue: boolean;
  /** With one that is an error, nothing is to be written. */
  readonly findings: readonly Finding[];
}

/** A field that gets its former value. */
export interface PutBack {
  readonly path: FieldPath;
  /** Null: it goes. */
  readonly value: unknown;
}

/** Whoever an object is prepared for. */
export interface Holder {
  /** `namespace/name` of the Exposure. */
  readonly exposure: string;
  /** Whether there is an Exposure of this key: one that is gone holds nothing any more. */
  readonly isThere: (exposure: string) => boolean;
}

/** How to say what an object must carry, once it is known how it would be without us. */
export type Prepare = (bases: readonly KubeObject[]) => readonly Preparation[];

/** The plans for all objects of one control plane. */
export function planPreparations(
  live: readonly KubeObject[],
  prepare: Prepare,
  holder: Holder,
): readonly PreparationPlan[] {
  const records = live.map(recordOf);
  const bases = live.map((object, index) => {
    const record = records[index];
    return isRecord(record) ? undone(object, record) : object;
  });
  const preparations = prepare(bases);
  return live.flatMap((object, index) => {
    const preparation = preparations.find((one) => one.object === bases[index]);
    return preparation === undefined ? [] : planOne(object, preparation, records[index], holder);
  });
}

function planOne(
  live: KubeObject,
  { object: base, resource, fields: wishes, findings }: Preparation,
  before: PreparationRecord | 'unreadable' | undefined,
  { exposure, isThere }: Holder,
): PreparationPlan {
  const results = wishes.map((wish) => fieldOf(wish, live, base));
  const record = { exposure, fields: results.map(({ record: one }) => one) };
  const text = recordText(record);
  const obstacles = [
    ...(text === undefined ? [tooLong(live)] : []),
    ...wrongTypeFindings(base, wishes),
    ...wishes.flatMap((wish) => longListFindings(live, wish)),
    ...wishes.flatMap((wish) => repeatedEntryFindings(base, wish)),
    ...(before === 'unreadable' ? [unreadableRecord(live, resource)] : []),
    ...(isRecord(before) && before.exposure !== exposure && isThere(before.exposure)
      ? [heldByAnother(live, before.exposure)]
      : []),
  ];
  const fields = results.map(({ state }) => state);
  const differing = fields.filter(({ now, wanted }) => !Bun.deepEquals(now, wanted));
  const given = isRecord(before) ? givenUp(before, wishes) : [];
  const isRecorded = live.metadata.annotations?.[RECORD_ANNOTATION] === text;
  return {
    ...{ resource, live, fields, differing },
    body: bodyOf(live, fields, { [RECORD_ANNOTATION]: text ?? '' }),
    putBack: formerValues(live, given),
    staying: stayingFields(live, given),
    isDue: differing.length > 0 || !isRecorded,
    findings: [...obstacles, ...findings],
  };
}

/** For server-side apply: these fields and annotations, of this very version of the object. */
export function bodyOf(
  { apiVersion, kind, metadata }: KubeObject,
  fields: readonly Pick<FieldState, 'path' | 'wanted'>[],
  annotations: Readonly<Record<string, string>> = {},
): KubeObject {
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    ...{ apiVersion, kind },
    metadata: {
      ...{ name, namespace },
      // Another object of that name, or none, is not to be made or changed; nor a field that changes while we write.
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
    ...treeOf(fields.map(({ path, wanted }) => [path, wanted] as const)),
  };
}

/** The fields as YAML for a person to put where the object is kept: what must be there, and no trace of us. */
export function pasteText({ live, fields }: Pick<PreparationPlan, 'live' | 'fields'>): string {
  const { name, namespace } = live.metadata;
  const bare = { ...live, metadata: { name, namespace } };
  return renderObject(bodyOf(bare, fields));
}

function fieldOf(
  wish: FieldWish,
  live: KubeObject,
  base: KubeObject,
): { readonly state: FieldState; readonly record: FieldRecord } {
  const { path, why } = wish;
  const now = valueAt(live, ...path);
  const was = valueAt(base, ...path);
  const block = missingBlock(base, path);
  if ('value' in wish) {
    const { value } = wish;
    const record = { path, ...block, wrote: value, ...(was !== undefined && { was }) };
    return { state: { path, why, now, wanted: value, wish: value }, record };
  }
  const { list, records } = withEntries(Array.isArray(was) ? was : [], wish.entries);
  const isAbsent = was === undefined;
  // Others may have put their entries behind ours: an order is not worth a write.
  const wanted = Array.isArray(now) && hasSameEntries(now, list) ? now : list;
  return {
    state: { path, why, now, wanted, wish: wish.entries.map(({ entry }) => entry) },
    record: { path, ...block, entries: records, ...(isAbsent && { absent: true }) },
  };
}

/** The outermost block on the way to a field that is not there. */
function missingBlock(base: KubeObject, path: FieldPath): { readonly block?: number } {
  const block = path.findIndex(
    (_, length) => length > 1 && valueAt(base, ...path.slice(0, length)) === undefined,
  );
  return block < 0 ? {} : { block };
}

/** Fields that were written once, and that nobody wishes for any more. */
function givenUp(
  { fields }: PreparationRecord,
  wishes: readonly FieldWish[],
): readonly FieldRecord[] {
  const wanted = new Set(wishes.map(({ path }) => pathText(path)));
  return fields.filter(({ path }) => !wanted.has(pathText(path)));
}

/** Those of the fields that would be there without us too, whatever their value. */
export function stayingFields(
  live: KubeObject,
  fields: readonly FieldRecord[],
): readonly FieldPath[] {
  return fields.filter((field) => formerValue(live, field) !== undefined).map(({ path }) => path);
}

/** What a merge patch has to put back: values that were there, and null for what was not and would stay. */
export function formerValues(live: KubeObject, fields: readonly FieldRecord[]): readonly PutBack[] {
  const values = fields.flatMap((field) => {
    const value = formerValue(live, field);
    if (Bun.deepEquals(value, valueAt(live, ...field.path))) return [];
    if (value !== undefined) return [{ path: field.path, value }];
    // One that is ours alone goes when we apply it no more.
    return otherOwners(live, field.path).length > 0 ? [{ path: field.path, value: null }] : [];
  });
  return [...values, ...leftBlocks(live, fields).map((path) => ({ path, value: null }))];
}

function isRecord(
  record: PreparationRecord | 'unreadable' | undefined,
): record is PreparationRecord {
  return record !== undefined && record !== 'unreadable';
}

function tooLong(live: KubeObject): Finding {
  return {
    ...{ code: 'FormerValuesTooLong', severity: 'error' },
    message: `what ${objectText(live)} has in the fields that would change is longer than the annotation ${RECORD_ANNOTATION} can keep, so it could not be restored`,
    action: 'write prepare: Report, and put the fields there yourself',
  };
}

/** The note of how an object was is not one that can be read: nothing is written, and nothing put back. */
export function unreadableRecord(live: KubeObject, { plural }: Resource): Finding {
  const { name, namespace = '' } = live.metadata;
  const kind = `${plural}.${groupOf(live.apiVersion)}`;
  return {
    ...{ code: 'PreparationRecordUnreadable', severity: 'error' },
    message: `the annotation ${RECORD_ANNOTATION} of ${objectText(live)} is not as Snicket writes it, so how the fields were before is not known`,
    action: `see that the fields are as you want them, and remove the annotation: kubectl annotate -n ${namespace} ${kind} ${name} ${RECORD_ANNOTATION}-`,
  };
}

function heldByAnother(live: KubeObject, exposure: string): Finding {
  return {
    ...{ code: 'PreparedForAnother', severity: 'error' },
    message: `${objectText(live)} is prepared for Exposure ${exposure}, and a control plane has one pair of hosts`,
    action: `delete Exposure ${exposure}, or this one`,
  };
}
