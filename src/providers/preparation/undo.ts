/**
 * An object as it would be if Snicket had never written into it. Changes of other clients since then stay.
 */
import { valueAt } from '../../kube/unstructured.ts';
import type { KubeObject } from '../../kube/object.ts';
import { withField } from './field-path.ts';
import { pathText, type FieldPath } from './preparation.ts';
import { otherOwners } from './field-owners.ts';
import { withoutEntries } from './list-edit.ts';
import type { FieldRecord, ListRecord, ValueRecord } from './record.ts';

/** Returns the object with the previous values of the recorded fields. */
export function undone<T extends KubeObject>(live: T, fields: readonly FieldRecord[]): T {
  const without = withoutFields(live, fields);
  return blocksIn(fields)
    .filter((block) => isEmpty(valueAt(without, ...block)))
    .reduce((object, block) => withField(object, block, undefined), without);
}

/**
 * Returns the recorded parents that did not exist before Snicket, and that now contain only empty defaults of the
 * provider, such as Kamaji's `additionalMetadata: {}`. They must be removed too. Otherwise an Ingress without a host
 * would remain.
 */
export function emptyParents(
  live: KubeObject,
  fields: readonly FieldRecord[],
): readonly FieldPath[] {
  const without = withoutFields(live, fields);
  return blocksIn(fields).filter((block) => {
    const remaining = valueAt(without, ...block);
    return isEmpty(remaining) && hasMoreThan(remaining, fields, block);
  });
}

function withoutFields<T extends KubeObject>(live: T, fields: readonly FieldRecord[]): T {
  return fields.reduce(
    (object, field) => withField(object, field.path, previousValue(live, field)),
    live,
  );
}

function blocksIn(fields: readonly FieldRecord[]): readonly FieldPath[] {
  const blocks = fields.flatMap(({ path, block }) =>
    block === undefined ? [] : [path.slice(0, block)],
  );
  return [...new Map(blocks.map((block) => [pathText(block), block])).values()];
}

/** Reports whether a parent contains more than the empty objects around Snicket's own fields. */
function hasMoreThan(
  remaining: unknown,
  fields: readonly FieldRecord[],
  block: FieldPath,
): boolean {
  const ownPaths = fields
    .map(({ path }) => path)
    .filter((path) => block.every((name, index) => path[index] === name))
    .map((path) => path.slice(block.length));
  const isOwn = (path: FieldPath) =>
    ownPaths.some((ownPath) => path.every((name, index) => ownPath[index] === name));
  const walk = (value: unknown, path: FieldPath): boolean =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(value).some(
      ([name, child]) => !isOwn([...path, name]) || walk(child, [...path, name]),
    );
  return walk(remaining, []);
}

/** Reports whether a value is absent, or contains only empty objects and lists. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === 'object' && Object.values(value).every(isEmpty);
}

/** Returns the value of a field without Snicket; undefined if the field would not exist. */
export function previousValue(live: KubeObject, field: FieldRecord): unknown {
  const current = valueAt(live, ...field.path);
  return 'wrote' in field
    ? previousScalar(live, field, current)
    : previousList(live, field, current);
}

/**
 * If another field manager owns the field with Snicket's value, the value stays: that manager wrote it first or has
 * taken it over.
 */
function previousScalar(
  live: KubeObject,
  { path, wrote, was }: ValueRecord,
  current: unknown,
): unknown {
  const isOwn = wrote.some((value) => value === current) && otherOwners(live, path).length === 0;
  return isOwn ? was : current;
}

/**
 * A manager that applies a list owns all of its entries, including Snicket's. A manager that updates the list may have
 * kept Snicket's entries only because they were there.
 */
function previousList(
  live: KubeObject,
  { path, entries, absent }: ListRecord,
  current: unknown,
): unknown {
  if (!Array.isArray(current)) return current;
  const isApplied = otherOwners(live, path).some(({ operation }) => operation === 'Apply');
  if (isApplied) return current;
  const remaining = withoutEntries(current, entries);
  return remaining.length === 0 && absent === true ? undefined : remaining;
}
