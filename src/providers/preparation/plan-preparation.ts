/**
 * From what an object must carry, and what it carries now, to what has to be written. Pure.
 */
import { valueAt } from '../../kube/unstructured.ts';
import { keyText, objectText, type KubeObject } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import type { Finding } from '../../api/finding.ts';
import { renderObject } from '../../plan/render.ts';
import { appliedPaths, isOwned, otherOwners } from './field-owners.ts';
import { treeOf } from './field-path.ts';
import { hasSameEntries, withEntries } from './list-edit.ts';
import {
  longListFindings,
  repeatedEntryFindings,
  separateValueFindings,
  wrongTypeFindings,
} from './object-findings.ts';
import {
  isValueMet,
  missingEntries,
  pathText,
  type FieldPath,
  type FieldWish,
  type Preparation,
} from './preparation.ts';
import {
  fieldsOf,
  isRecordOfName,
  isUsable,
  objectRecordOf,
  RECORD_ANNOTATION,
  RECORD_VERSION,
  recordOf,
  recordText,
  type FieldRecord,
  type ListRecord,
  type PreparationRecord,
  type RecordProblem,
  type ValueRecord,
} from './record.ts';
import { formerValue, leftBlocks, undone } from './undo.ts';

/** One field: what it is, what it should be. */
export interface FieldState {
  readonly path: FieldPath;
  readonly why: string;
  /** Of the object as it is; undefined if it is not there. */
  readonly now: unknown;
  /** The present value, where that does the job. */
  readonly wanted: unknown;
  /** What of it is our wish, the same whatever others write there: the value, or our entries of a list. */
  readonly wish: unknown;
}

/** What has to be written into one object. */
export interface PreparationPlan {
  readonly resource: Resource;
  /** As it is. */
  readonly live: KubeObject;
  /** Everything that the object needs. */
  readonly fields: readonly FieldState[];
  /** Those of the fields that are not as they should be. */
  readonly differing: readonly FieldState[];
  /** For server-side apply: the fields that do not do the job without Snicket, and nothing else. Of this very version. */
  readonly body: KubeObject;
  /** What has to be put back first, as it is not wanted any more. */
  readonly putBack: readonly PutBack[];
  /** Fields that are not applied any more and stay as they are: not to be lost with our ownership of them. */
  readonly staying: readonly FieldPath[];
  /** Whether there is anything to write. */
  readonly isDue: boolean;
  /** What the record must say of the object before it is written. */
  readonly recordBefore: readonly FieldRecord[];
  /** What the record says of the object after it was written. */
  readonly recordAfter: readonly FieldRecord[];
  /** With one that is an error, nothing is to be written. */
  readonly findings: readonly Finding[];
}

/** A field that gets its former value. */
export interface PutBack {
  readonly path: FieldPath;
  /** Null: it goes. */
  readonly value: unknown;
}

/** The Exposure that an object is prepared for. */
export interface PreparationOwner {
  /** Has the record. */
  readonly exposure: KubeObject;
  /** The key of another Exposure that has a record of the object with this uid; undefined if none has. */
  readonly otherOwner: (uid: string) => string | undefined;
}

/** How to say what an object must carry, once it is known how it would be without us. */
export type Prepare = (bases: readonly KubeObject[]) => readonly Preparation[];

/** The plans for all objects of one control plane. */
export function planPreparations(
  live: readonly KubeObject[],
  prepare: Prepare,
  owner: PreparationOwner,
): readonly PreparationPlan[] {
  const record = recordOf(owner.exposure);
  const fields = live.map((object) => (isUsable(record) ? fieldsOf(record, object) : []));
  const bases = live.map((object, index) => undone(object, fields[index] ?? []));
  const preparations = prepare(bases);
  const plans = live.flatMap((object, index) => {
    const preparation = preparations.find((one) => one.object === bases[index]);
    return preparation === undefined
      ? []
      : planOne(object, preparation, fields[index] ?? [], owner);
  });
  const problem = isUsable(record)
    ? recordLengthFinding(owner.exposure, record, plans)
    : recordFinding(owner.exposure, record);
  if (problem === undefined) return plans;
  return plans.map((plan) => ({ ...plan, findings: [problem, ...plan.findings] }));
}

/** The record before or after the plans are carried out. What it says of other objects stays, while they may exist. */
export function nextRecord(
  { objects }: PreparationRecord,
  plans: readonly PreparationPlan[],
  when: 'before' | 'after',
): PreparationRecord {
  const others = objects.filter((one) => !plans.some(({ live }) => isRecordOfName(one, live)));
  const own = plans.map(({ live, recordBefore, recordAfter }) =>
    objectRecordOf(live, when === 'before' ? recordBefore : recordAfter),
  );
  return { objects: [...own.filter(({ fields }) => fields.length > 0), ...others] };
}

function planOne(
  live: KubeObject,
  { object: base, resource, fields: wishes, findings }: Preparation,
  recorded: readonly FieldRecord[],
  { otherOwner }: PreparationOwner,
): PreparationPlan {
  const other = otherOwner(live.metadata.uid ?? '');
  const obstacles = [
    ...wrongTypeFindings(base, wishes),
    ...wishes.flatMap((wish) => longListFindings(live, wish)),
    ...wishes.flatMap((wish) => repeatedEntryFindings(base, wish)),
    ...wishes.flatMap((wish) => separateValueFindings(base, wish)),
    ...(other === undefined ? [] : [ownedByAnother(live, other)]),
  ];
  const [met, unmet] = [true, false].map((is) => wishes.filter((wish) => isMet(wish, base) === is));
  const written = (unmet ?? []).map((wish) => fieldOf(wish, live, base));
  const present = (met ?? []).flatMap((wish) => presentField(wish, live, base));
  const fields = [...written.map(({ state }) => state), ...present];
  const differing = fields.filter(({ now, wanted }) => !Bun.deepEquals(now, wanted));
  const recordAfter = written.map(({ record }) => record);
  const given = givenUp(recorded, recordAfter);
  const applied = appliedPaths(live).filter((path) => recordAt(recordAfter, path) === undefined);
  return {
    resource,
    live,
    fields: wishes.flatMap(({ path }) => fields.find((field) => field.path === path) ?? []),
    differing,
    body: bodyOf(
      live,
      written.map(({ state }) => state),
    ),
    putBack: formerValues(live, given),
    staying: applied.filter((path) => valueAt(base, ...path) !== undefined),
    isDue: differing.length > 0 || given.some((field) => isInEffect(live, field)),
    recordBefore: merged(recordAfter, recorded),
    recordAfter,
    findings: [...obstacles, ...findings],
  };
}

/** Whether the object without Snicket does the job. */
function isMet(wish: FieldWish, base: KubeObject): boolean {
  const value = valueAt(base, ...wish.path);
  if ('value' in wish) return isValueMet(wish, value);
  return missingEntries(wish, Array.isArray(value) ? value : []).length === 0;
}

/** Whether a field still has something of ours. */
function isInEffect(live: KubeObject, field: FieldRecord): boolean {
  const { path } = field;
  return isOwned(live, path) || !Bun.deepEquals(formerValue(live, field), valueAt(live, ...path));
}

/** For server-side apply: these fields, of this very version of the object. */
export function bodyOf(
  { apiVersion, kind, metadata }: KubeObject,
  fields: readonly Pick<FieldState, 'path' | 'wanted'>[],
): KubeObject {
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      namespace,
      // Another object of that name, or none, is not to be made or changed; nor a field that changes while we write.
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
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

/** A field whose value does the job without Snicket; nothing if that value is none. */
function presentField(wish: FieldWish, live: KubeObject, base: KubeObject): readonly FieldState[] {
  const { path, why } = wish;
  const wanted = valueAt(base, ...path);
  if (wanted === undefined) return [];
  const own = 'value' in wish ? wish.value : wish.entries.map(({ entry }) => entry);
  const now = valueAt(live, ...path);
  // What is different was written by Snicket, and is put back.
  return [{ path, why, now, wanted: isMet(wish, live) ? now : wanted, wish: own }];
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
    const record = { path, ...block, wrote: [value], ...(was !== undefined && { was }) };
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

/** Fields that were written once, and that are not written any more. */
function givenUp(
  recorded: readonly FieldRecord[],
  written: readonly FieldRecord[],
): readonly FieldRecord[] {
  return recorded.filter(({ path }) => recordAt(written, path) === undefined);
}

function recordAt(fields: readonly FieldRecord[], path: FieldPath): FieldRecord | undefined {
  return fields.find((field) => pathText(field.path) === pathText(path));
}

/** Both what will be written and what may have been written before: a process may end at any time. */
function merged(
  next: readonly FieldRecord[],
  recorded: readonly FieldRecord[],
): readonly FieldRecord[] {
  const both = next.map((field) => {
    const before = recordAt(recorded, field.path);
    if (before === undefined) return field;
    if ('wrote' in field) return 'wrote' in before ? mergedValue(field, before) : field;
    return 'entries' in before ? mergedList(field, before) : field;
  });
  return [...both, ...givenUp(recorded, next)];
}

function mergedValue(field: ValueRecord, { wrote }: ValueRecord): ValueRecord {
  return { ...field, wrote: [...new Set([...field.wrote, ...wrote])] };
}

function mergedList(field: ListRecord, { entries }: ListRecord): ListRecord {
  const others = entries.filter(
    ({ entry }) => !field.entries.some((own) => Bun.deepEquals(own.entry, entry)),
  );
  return { ...field, entries: [...field.entries, ...others] };
}

/** The fields that we own by apply and that exist without us too: an apply without them must not take them away. */
export function stayingFields(
  live: KubeObject,
  fields: readonly FieldRecord[],
): readonly FieldPath[] {
  const base = undone(live, fields);
  return appliedPaths(live).filter((path) => valueAt(base, ...path) !== undefined);
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

/** That the record would be longer than an annotation should be. */
function recordLengthFinding(
  exposure: KubeObject,
  record: PreparationRecord,
  plans: readonly PreparationPlan[],
): Finding | undefined {
  if (recordText(exposure, nextRecord(record, plans, 'before')) !== undefined) return undefined;
  const objects = plans.filter(({ isDue }) => isDue).map(({ live }) => objectText(live));
  return {
    code: 'FormerValuesTooLong',
    severity: 'error',
    message: `the present values of the fields that would change in ${objects.join(' and ')} are longer than the annotation ${RECORD_ANNOTATION} can record, so they could not be restored`,
    action: 'write prepare: Report, and put the fields there yourself',
  };
}

/** That the record of an Exposure cannot be used: nothing is written, and nothing is restored. */
export function recordFinding(exposure: KubeObject, { problem, version }: RecordProblem): Finding {
  const { name, namespace = '' } = exposure.metadata;
  const place = `The annotation ${RECORD_ANNOTATION} of Exposure ${keyText(exposure.metadata)}`;
  if (problem === 'newer') {
    return {
      code: 'PreparationRecordNewer',
      severity: 'error',
      message: `${place} has version ${version}, and this version of Snicket reads version ${RECORD_VERSION}. Snicket changes neither the control plane's objects nor the annotation`,
      action: 'run the version of Snicket that wrote it, or a newer one',
    };
  }
  return {
    code: 'PreparationRecordUnreadable',
    severity: 'error',
    message: `${place} is not one that Snicket writes, so the previous values of the fields are unknown`,
    action: `check that the fields of the control plane are as you want them, and remove the annotation: kubectl annotate -n ${namespace} exposures.snicket.dev ${name} ${RECORD_ANNOTATION}-`,
  };
}

function ownedByAnother(live: KubeObject, exposure: string): Finding {
  return {
    code: 'PreparedForAnother',
    severity: 'error',
    message: `${objectText(live)} is prepared for Exposure ${exposure}, and a control plane has one pair of hosts`,
    action: `delete Exposure ${exposure}, or this one`,
  };
}
