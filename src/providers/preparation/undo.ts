/**
 * An object as it would be if Snicket had never written into it. Whatever somebody has changed since then is as he left it.
 */
import { valueAt } from '../../kube/unstructured.ts';
import type { KubeObject } from '../../kube/object.ts';
import { withField } from './field-path.ts';
import { pathText, type FieldPath } from './preparation.ts';
import { otherOwners } from './field-owners.ts';
import { withoutEntries } from './list-edit.ts';
import type { FieldRecord, ListRecord, ValueRecord } from './record.ts';

/** The object without the fields that the record names. */
export function undone<T extends KubeObject>(live: T, fields: readonly FieldRecord[]): T {
  const without = withoutFields(live, fields);
  return blocksIn(fields)
    .filter((block) => isEmpty(valueAt(without, ...block)))
    .reduce((object, block) => withField(object, block, undefined), without);
}

/**
 * The blocks that were not there before the record's fields, and in which nothing is left but what a provider fills in
 * by itself, as Kamaji does with `additionalMetadata: {}`. To leave such a block is to leave an Ingress without a host.
 */
export function leftBlocks(live: KubeObject, fields: readonly FieldRecord[]): readonly FieldPath[] {
  const without = withoutFields(live, fields);
  return blocksIn(fields).filter((block) => {
    const left = valueAt(without, ...block);
    return isEmpty(left) && hasMoreThan(left, fields, block);
  });
}

function withoutFields<T extends KubeObject>(live: T, fields: readonly FieldRecord[]): T {
  return fields.reduce(
    (object, field) => withField(object, field.path, formerValue(live, field)),
    live,
  );
}

function blocksIn(fields: readonly FieldRecord[]): readonly FieldPath[] {
  const blocks = fields.flatMap(({ path, block }) =>
    block === undefined ? [] : [path.slice(0, block)],
  );
  return [...new Map(blocks.map((block) => [pathText(block), block])).values()];
}

/** Whether there is anything besides the empty maps that our own fields leave. */
function hasMoreThan(left: unknown, fields: readonly FieldRecord[], block: FieldPath): boolean {
  const ours = fields
    .map(({ path }) => path)
    .filter((path) => block.every((name, index) => path[index] === name))
    .map((path) => path.slice(block.length));
  const isOurs = (path: FieldPath) =>
    ours.some((own) => path.every((name, index) => own[index] === name));
  const walk = (value: unknown, path: FieldPath): boolean =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(value).some(
      ([name, child]) => !isOurs([...path, name]) || walk(child, [...path, name]),
    );
  return walk(left, []);
}

/** Nothing, or nothing but empty maps and lists. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === 'object' && Object.values(value).every(isEmpty);
}

/** What a field would be; undefined if it would not be there. */
export function formerValue(live: KubeObject, field: FieldRecord): unknown {
  const current = valueAt(live, ...field.path);
  return 'wrote' in field ? formerScalar(live, field, current) : formerList(live, field, current);
}

/** One who owns it with our value wants it so himself: he wrote it before us, or took it over since. */
function formerScalar(
  live: KubeObject,
  { path, wrote, was }: ValueRecord,
  current: unknown,
): unknown {
  const isOurs = wrote.some((value) => value === current) && otherOwners(live, path).length === 0;
  return isOurs ? was : current;
}

/**
 * One who applies a list has written all of it, our entries too. One who merely changed the list may have kept our
 * entries because they were there.
 */
function formerList(
  live: KubeObject,
  { path, entries, absent }: ListRecord,
  current: unknown,
): unknown {
  if (!Array.isArray(current)) return current;
  const isApplied = otherOwners(live, path).some(({ operation }) => operation === 'Apply');
  if (isApplied) return current;
  const left = withoutEntries(current, entries);
  return left.length === 0 && absent === true ? undefined : left;
}
