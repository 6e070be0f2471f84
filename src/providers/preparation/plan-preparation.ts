/**
 * The plan for a provider's object, from its desired fields and its current state. Pure.
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
  type DesiredField,
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
import { previousValue, emptyParents, undone } from './undo.ts';

/** A field with its current and desired value. */
export interface FieldState {
  readonly path: FieldPath;
  /** The current value; undefined if the field does not exist. */
  readonly current: unknown;
  /** The desired value: the current one, if that satisfies the desired field. */
  readonly wanted: unknown;
  /**
   * The part of the value that Snicket desires, whatever other field managers write: the value, or Snicket's entries of
   * a list.
   */
  readonly ownValue: unknown;
}

/** The changes to one object. */
export interface PreparationPlan {
  readonly resource: Resource;
  /** The current object. */
  readonly live: KubeObject;
  /** All desired fields. */
  readonly fields: readonly FieldState[];
  /** The fields whose value differs from the desired one. */
  readonly differing: readonly FieldState[];
  /** The fields that a chart renders and whose value differs from the desired one. Snicket does not write them. */
  readonly awaited: readonly FieldState[];
  /**
   * The object to apply: only the fields that are not satisfied without Snicket, with the resourceVersion of the
   * current object.
   */
  readonly body: KubeObject;
  /** The values to restore before the apply, since they are no longer desired. */
  readonly restoredValues: readonly RestoredValue[];
  /** The fields that the apply no longer contains and that must stay: Snicket gives up their ownership first. */
  readonly staying: readonly FieldPath[];
  /** Whether there is anything to write. */
  readonly isDue: boolean;
  /** What the record must contain before the object is written. */
  readonly recordBefore: readonly FieldRecord[];
  /** What the record contains after the object was written. */
  readonly recordAfter: readonly FieldRecord[];
  /** With an error, nothing must be written. */
  readonly findings: readonly Finding[];
}

/** A field whose previous value is restored. */
interface RestoredValue {
  readonly path: FieldPath;
  /** Null removes the field. */
  readonly value: unknown;
}

/** The Exposure that an object is prepared for. */
export interface PreparationOwner {
  /** The Exposure, with the record. */
  readonly exposure: KubeObject;
  /** Returns the key of another Exposure with a record of the object with this uid; undefined if there is none. */
  readonly otherOwner: (uid: string) => string | undefined;
}

/** Returns the preparations for objects as they would be without Snicket. */
type Prepare = (bases: readonly KubeObject[]) => readonly Preparation[];

/** Returns the plans for all objects of a control plane. */
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
    const preparation = preparations.find((candidate) => candidate.object === bases[index]);
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

/**
 * Returns the record before or after the plans are applied. Records of other objects stay, since these may still exist.
 */
export function nextRecord(
  { objects }: PreparationRecord,
  plans: readonly PreparationPlan[],
  when: 'before' | 'after',
): PreparationRecord {
  const others = objects.filter(
    (record) => !plans.some(({ live }) => isRecordOfName(record, live)),
  );
  const records = plans.map(({ live, recordBefore, recordAfter }) =>
    objectRecordOf(live, when === 'before' ? recordBefore : recordAfter),
  );
  return { objects: [...records.filter(({ fields }) => fields.length > 0), ...others] };
}

function planOne(
  live: KubeObject,
  { object: base, resource, fields: allFields, findings }: Preparation,
  recorded: readonly FieldRecord[],
  { otherOwner }: PreparationOwner,
): PreparationPlan {
  const other = otherOwner(live.metadata.uid ?? '');
  const desiredFields = allFields.filter((desired) => !isRendered(desired));
  const awaited = allFields.filter((desired) => isRendered(desired) && !isMet(desired, live));
  const obstacles = [
    ...wrongTypeFindings(base, desiredFields),
    ...desiredFields.flatMap((desired) => longListFindings(live, desired)),
    ...desiredFields.flatMap((desired) => repeatedEntryFindings(base, desired)),
    ...desiredFields.flatMap((desired) => separateValueFindings(base, desired)),
    ...(other === undefined ? [] : [ownedByAnother(live, other)]),
  ];
  const [satisfied, missing] = [true, false].map((isSatisfied) =>
    desiredFields.filter((desired) => isMet(desired, base) === isSatisfied),
  );
  const written = (missing ?? []).map((desired) => fieldOf(desired, live, base));
  const present = (satisfied ?? []).flatMap((desired) => presentField(desired, live, base));
  const fields = [...written.map(({ state }) => state), ...present];
  const differing = fields.filter(({ current, wanted }) => !Bun.deepEquals(current, wanted));
  const recordAfter = written.map(({ record }) => record);
  const released = noLongerWritten(recorded, recordAfter);
  const applied = appliedPaths(live).filter((path) => recordAt(recordAfter, path) === undefined);
  return {
    resource,
    live,
    fields: desiredFields.flatMap(({ path }) => fields.find((field) => field.path === path) ?? []),
    differing,
    awaited: awaited.map((desired) => fieldOf(desired, live, base).state),
    body: bodyOf(
      live,
      written.map(({ state }) => state),
    ),
    restoredValues: previousValues(live, released),
    staying: applied.filter((path) => valueAt(base, ...path) !== undefined),
    isDue: differing.length > 0 || released.some((field) => isInEffect(live, field)),
    recordBefore: merged(recordAfter, recorded),
    recordAfter,
    findings: [...obstacles, ...findings],
  };
}

function isRendered(desired: DesiredField): boolean {
  return 'value' in desired && desired.isRendered === true;
}

/** Reports whether the object satisfies a desired field without Snicket. */
function isMet(desired: DesiredField, base: KubeObject): boolean {
  const value = valueAt(base, ...desired.path);
  if ('value' in desired) return isValueMet(desired, value);
  return missingEntries(desired, Array.isArray(value) ? value : []).length === 0;
}

/** Reports whether Snicket still owns a field, or whether it still has a value of Snicket. */
function isInEffect(live: KubeObject, field: FieldRecord): boolean {
  const { path } = field;
  return isOwned(live, path) || !Bun.deepEquals(previousValue(live, field), valueAt(live, ...path));
}

/** Returns the object for server-side apply, with these fields and with the resourceVersion of the current object. */
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
      // With uid and resourceVersion, the apply fails if the object was deleted, recreated or changed in between.
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
    ...treeOf(fields.map(({ path, wanted }) => [path, wanted] as const)),
  };
}

/** Returns the fields as YAML for the user to paste into the source of the object, without any trace of Snicket. */
export function pasteText({ live, fields }: Pick<PreparationPlan, 'live' | 'fields'>): string {
  const { name, namespace } = live.metadata;
  const bare = { ...live, metadata: { name, namespace } };
  return renderObject(bodyOf(bare, fields));
}

/** Returns the state of a field that is satisfied without Snicket; none if the field does not exist. */
function presentField(
  desired: DesiredField,
  live: KubeObject,
  base: KubeObject,
): readonly FieldState[] {
  const { path } = desired;
  const wanted = valueAt(base, ...path);
  if (wanted === undefined) return [];
  const ownValue = 'value' in desired ? desired.value : desired.entries.map(({ entry }) => entry);
  const current = valueAt(live, ...path);
  // If the current value differs, Snicket wrote it and restores the previous one.
  return [{ path, current, wanted: isMet(desired, live) ? current : wanted, ownValue }];
}

function fieldOf(
  desired: DesiredField,
  live: KubeObject,
  base: KubeObject,
): { readonly state: FieldState; readonly record: FieldRecord } {
  const { path } = desired;
  const current = valueAt(live, ...path);
  const was = valueAt(base, ...path);
  const block = missingBlock(base, path);
  if ('value' in desired) {
    const { value } = desired;
    const record = { path, ...block, wrote: [value], ...(was !== undefined && { was }) };
    return { state: { path, current, wanted: value, ownValue: value }, record };
  }
  const { list, records } = withEntries(Array.isArray(was) ? was : [], desired.entries);
  const isAbsent = was === undefined;
  // Other field managers may have appended entries. A different order is not worth a write.
  const wanted = Array.isArray(current) && hasSameEntries(current, list) ? current : list;
  return {
    state: { path, current, wanted, ownValue: desired.entries.map(({ entry }) => entry) },
    record: { path, ...block, entries: records, ...(isAbsent && { absent: true }) },
  };
}

/** Returns the depth of the outermost missing parent of a field. */
function missingBlock(base: KubeObject, path: FieldPath): { readonly block?: number } {
  const block = path.findIndex(
    (_, length) => length > 1 && valueAt(base, ...path.slice(0, length)) === undefined,
  );
  return block < 0 ? {} : { block };
}

/** Returns the recorded fields that are no longer written. */
function noLongerWritten(
  recorded: readonly FieldRecord[],
  written: readonly FieldRecord[],
): readonly FieldRecord[] {
  return recorded.filter(({ path }) => recordAt(written, path) === undefined);
}

function recordAt(fields: readonly FieldRecord[], path: FieldPath): FieldRecord | undefined {
  return fields.find((field) => pathText(field.path) === pathText(path));
}

/**
 * Returns the records of what will be written and of what may have been written before, since a process may end at any
 * time.
 */
function merged(
  next: readonly FieldRecord[],
  recorded: readonly FieldRecord[],
): readonly FieldRecord[] {
  const written = next.map((field) => {
    const before = recordAt(recorded, field.path);
    if (before === undefined) return field;
    if ('wrote' in field) return 'wrote' in before ? mergedValue(field, before) : field;
    return 'entries' in before ? mergedList(field, before) : field;
  });
  return [...written, ...noLongerWritten(recorded, next)];
}

function mergedValue(field: ValueRecord, { wrote }: ValueRecord): ValueRecord {
  return { ...field, wrote: [...new Set([...field.wrote, ...wrote])] };
}

function mergedList(field: ListRecord, { entries }: ListRecord): ListRecord {
  const others = entries.filter(
    ({ entry }) => !field.entries.some((added) => Bun.deepEquals(added.entry, entry)),
  );
  return { ...field, entries: [...field.entries, ...others] };
}

/**
 * Returns the fields that Snicket owns by apply and that would exist without Snicket too. An apply without these fields
 * must not remove them.
 */
export function stayingFields(
  live: KubeObject,
  fields: readonly FieldRecord[],
): readonly FieldPath[] {
  const base = undone(live, fields);
  return appliedPaths(live).filter((path) => valueAt(base, ...path) !== undefined);
}

/**
 * Returns the values for a merge patch: previous values, and null for fields that did not exist and that would
 * otherwise stay.
 */
export function previousValues(
  live: KubeObject,
  fields: readonly FieldRecord[],
): readonly RestoredValue[] {
  const values = fields.flatMap((field) => {
    const value = previousValue(live, field);
    if (Bun.deepEquals(value, valueAt(live, ...field.path))) return [];
    if (value !== undefined) return [{ path: field.path, value }];
    // The next apply removes a field that only Snicket owns.
    return otherOwners(live, field.path).length > 0 ? [{ path: field.path, value: null }] : [];
  });
  return [...values, ...emptyParents(live, fields).map((path) => ({ path, value: null }))];
}

/** Returns the finding that the record would be longer than an annotation should be. */
function recordLengthFinding(
  exposure: KubeObject,
  record: PreparationRecord,
  plans: readonly PreparationPlan[],
): Finding | undefined {
  if (recordText(exposure, nextRecord(record, plans, 'before')) !== undefined) return undefined;
  const objects = plans.filter(({ isDue }) => isDue).map(({ live }) => objectText(live));
  return {
    code: 'FieldInvalid',
    severity: 'error',
    message: `The current values of the fields to change in ${objects.join(' and ')} are too long for the annotation ${RECORD_ANNOTATION}, so Snicket could not restore them.`,
    action: 'Set prepare: Report, and set the fields yourself.',
  };
}

/** Returns the finding that the record of an Exposure cannot be used. Snicket then writes and restores nothing. */
export function recordFinding(exposure: KubeObject, { problem, version }: RecordProblem): Finding {
  const { name, namespace = '' } = exposure.metadata;
  const place = `The annotation ${RECORD_ANNOTATION} of Exposure ${keyText(exposure.metadata)}`;
  if (problem === 'newer') {
    return {
      code: 'PreparationRecordInvalid',
      severity: 'error',
      message: `${place} has version ${version}, but this version of Snicket reads version ${RECORD_VERSION}. Snicket changes neither the control plane's objects nor the annotation.`,
      action: 'Run the version of Snicket that wrote it, or a newer one.',
    };
  }
  return {
    code: 'PreparationRecordInvalid',
    severity: 'error',
    message: `${place} was not written by Snicket, so the previous values of the fields are unknown.`,
    action: `Check the fields of the control plane, and then remove the annotation: kubectl annotate -n ${namespace} exposures.snicket.dev ${name} ${RECORD_ANNOTATION}-`,
  };
}

function ownedByAnother(live: KubeObject, exposure: string): Finding {
  return {
    code: 'ControlPlaneConflict',
    severity: 'error',
    message: `${objectText(live)} is already prepared for Exposure ${exposure}, and a control plane has only one pair of hosts.`,
    action: `Delete Exposure ${exposure} or this one.`,
  };
}
