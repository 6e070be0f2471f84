/**
 * Field ownership and server-side apply.
 */
import type { ManagedFields } from '../../object.ts';
import { ApiFailure } from '../api-failure.ts';
import { isObject, isSameJson, objectIn, without, type JsonObject } from '../json.ts';
import { fieldsOf, fieldText, fromFieldsV1, reaches, toFieldsV1 } from './field-set.ts';
import type { Fields } from './field-set.ts';
import { hasStatus } from './list-types.ts';
import { mergeApplied, pruneFields } from './merge.ts';

/** A field manager, and the part of the object that it writes. */
export interface Writer {
  readonly manager: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly subresource: 'status' | undefined;
  readonly now: string;
}

/** An entry of `metadata.managedFields` with its fields as a set. */
interface Entry {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string | undefined;
  readonly time: string;
  readonly paths: ReadonlySet<string>;
}

/**
 * Returns the object after an apply. A different value in a field of another manager is a Conflict, or takes the field
 * over if `force` is set. Fields that this manager applied before and does not apply now are removed, unless they have
 * another owner.
 */
export function applyFields(
  live: JsonObject,
  applied: JsonObject,
  force: boolean,
  writer: Writer,
): JsonObject {
  const { kind } = writer;
  const wanted = fieldsOf(writableBy(writer, applied), kind);
  const entries = entriesOf(live);
  const conflicts = conflictsWith(entries, wanted, fieldsOf(live, kind), writer);
  if (conflicts.length > 0 && !force) throw conflictOf(conflicts);

  const after = withEntry(
    entries.map((entry) => {
      const lost = conflicts.filter((conflict) => conflict.entry === entry).map(({ path }) => path);
      return { ...entry, paths: entry.paths.difference(new Set(lost)) };
    }),
    entryOf(writer, 'Apply', new Set(wanted.keys())),
  );
  const before = entries.find((entry) => isOf(entry, writer, 'Apply'))?.paths ?? new Set();
  const owned = after.reduce((union, { paths }) => union.union(paths), new Set<string>());
  const merged = mergeApplied(live, writableBy(writer, applied), kind);
  return withEntries(pruneFields(merged, kind, before.difference(owned), owned), live, after);
}

/** Returns the object after any other write. The writer becomes the only owner of the fields that it changes. */
export function updateFields(live: JsonObject, next: JsonObject, writer: Writer): JsonObject {
  const { kind } = writer;
  const old = fieldsOf(writableBy(writer, live), kind);
  const fields = fieldsOf(writableBy(writer, next), kind);
  const all = [...fieldsOf(next, kind).keys()];
  const changed = new Set(
    [...fields].filter(([path, value]) => !isSameField(old, path, value)).map(([path]) => path),
  );
  // A body with managedFields replaces them. A body without leaves them unchanged.
  const entriesInBody = entriesOf(next);
  const entries = (entriesInBody.length > 0 ? entriesInBody : entriesOf(live)).map((entry) => {
    const left = [...entry.paths].filter((path) => !changed.has(path) && reaches(all, path));
    return { ...entry, paths: new Set(left) };
  });
  const owned = entries.find((entry) => isOf(entry, writer, 'Update'))?.paths ?? new Set();
  const after = withEntry(entries, entryOf(writer, 'Update', owned.union(changed)));
  return withEntries(next, live, after);
}

/**
 * Returns the part of an object that a writer can change: only the status through its subresource, and all else
 * otherwise.
 */
export function writableBy({ kind, subresource }: Writer, object: JsonObject): JsonObject {
  if (subresource === 'status') return { status: object['status'] };
  return hasStatus(kind) ? without(object, 'status') : object;
}

interface FieldConflict {
  readonly entry: Entry;
  readonly path: string;
}

function conflictsWith(
  entries: readonly Entry[],
  wanted: Fields,
  live: Fields,
  writer: Writer,
): readonly FieldConflict[] {
  return entries
    .filter((entry) => !isOf(entry, writer, 'Apply'))
    .flatMap((entry) =>
      [...wanted]
        .filter(([path, value]) => entry.paths.has(path) && !isSameField(live, path, value))
        .map(([path]) => ({ entry, path })),
    );
}

function isSameField(fields: Fields, path: string, value: unknown): boolean {
  return fields.has(path) && isSameJson(fields.get(path), value);
}

function conflictOf(conflicts: readonly FieldConflict[]): ApiFailure {
  const causes = conflicts.map(({ entry, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${managerText(entry)}`,
    field: fieldText(path),
  }));
  const list = causes.map(({ message, field }) => `${message}: ${field}`).join('\n');
  const count = `${causes.length} conflict${causes.length === 1 ? '' : 's'}`;
  return new ApiFailure(409, 'Conflict', `Apply failed with ${count}: ${list}`, { causes });
}

function managerText({ manager, operation, apiVersion, subresource, time }: Entry): string {
  const part = subresource === undefined ? '' : ` with subresource "${subresource}"`;
  const since = operation === 'Update' ? ` using ${apiVersion} at ${time}` : '';
  return `${JSON.stringify(manager)}${part}${since}`;
}

function isOf(entry: Entry, writer: Writer, operation: Entry['operation']): boolean {
  return (
    entry.manager === writer.manager &&
    entry.operation === operation &&
    entry.subresource === writer.subresource
  );
}

/** Replaces the writer's entry in place, so that an identical apply gives an identical result. */
function withEntry(entries: readonly Entry[], replacement: Entry): readonly Entry[] {
  const index = entries.findIndex(
    ({ manager, operation, subresource }) =>
      manager === replacement.manager &&
      operation === replacement.operation &&
      subresource === replacement.subresource,
  );
  return index < 0 ? [...entries, replacement] : entries.with(index, replacement);
}

function entryOf(
  { manager, apiVersion, subresource, now }: Writer,
  operation: Entry['operation'],
  paths: ReadonlySet<string>,
): Entry {
  return { manager, operation, apiVersion, subresource, time: now, paths };
}

function entriesOf(object: JsonObject): readonly Entry[] {
  const found = objectIn(object, 'metadata')['managedFields'];
  return (Array.isArray(found) ? (found as readonly ManagedFields[]) : []).map((entry) => ({
    manager: entry.manager ?? '',
    operation: entry.operation ?? 'Update',
    apiVersion: entry.apiVersion ?? '',
    subresource: entry.subresource,
    time: entry.time ?? '',
    paths: fromFieldsV1(entry.fieldsV1),
  }));
}

/** The time of an entry changes only if its fields or the object do. Otherwise every apply would be a change. */
function withEntries(object: JsonObject, live: JsonObject, entries: readonly Entry[]): JsonObject {
  const metadata = without(objectIn(object, 'metadata'), 'managedFields');
  const liveMetadata = objectIn(live, 'metadata');
  const isSameObject = isSameJson(
    { ...object, metadata },
    { ...live, metadata: without(liveMetadata, 'managedFields') },
  );
  const before = liveMetadata['managedFields'];
  const old: readonly unknown[] = Array.isArray(before) ? before : [];
  const managedFields = entries
    .filter(({ paths }) => paths.size > 0)
    .map(({ paths, ...entry }) => ({
      ...entry,
      fieldsType: 'FieldsV1',
      fieldsV1: toFieldsV1(paths),
    }))
    .map((entry) => {
      const same = old.find(
        (previous) =>
          isObject(previous) && isSameJson({ ...previous, time: '' }, { ...entry, time: '' }),
      );
      return same !== undefined && isSameObject ? same : entry;
    });
  return { ...object, metadata: { ...metadata, managedFields } };
}
