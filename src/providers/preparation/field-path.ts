/**
 * Fields of an object by path. Changes return a copy.
 */
import type { FieldPath } from './preparation.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns the object with this value at a path. undefined removes the field, and keeps its parents, even if they are
 * empty.
 */
export function withField<T extends object>(object: T, path: FieldPath, value: unknown): T {
  return put(object, path, value) as T;
}

function put(parent: unknown, [name, ...rest]: FieldPath, value: unknown): unknown {
  if (name === undefined) return value;
  const fields: Fields = isMap(parent) ? parent : {};
  const current = Object.hasOwn(fields, name) ? fields[name] : undefined;
  const next = put(current, rest, value);
  if (next === undefined && current === undefined) return parent;
  // Object.fromEntries treats a field such as __proto__ like any other.
  const entries = Object.hasOwn(fields, name)
    ? Object.entries(fields).map(([other, old]) => [other, other === name ? next : old] as const)
    : [...Object.entries(fields), [name, next] as const];
  return Object.fromEntries(entries.filter(([, child]) => child !== undefined));
}

/** Returns an object with only these fields. */
export function treeOf(fields: Iterable<readonly [FieldPath, unknown]>): Fields {
  let tree: Fields = {};
  for (const [path, value] of fields) tree = withField(tree, path, value);
  return tree;
}

/** Returns all leaves of a tree, with their paths. */
export function leavesOf(
  tree: unknown,
  path: FieldPath = [],
): readonly (readonly [FieldPath, unknown])[] {
  if (!isMap(tree)) return [[path, tree]];
  return Object.entries(tree).flatMap(([name, child]) => leavesOf(child, [...path, name]));
}

function isMap(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
