/**
 * Fields of an object by their paths, changed in a copy.
 */
import type { FieldPath } from './preparation.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The object with this value at a path; undefined takes the field away, and what it was in stays, if empty. */
export function withField<T extends object>(object: T, path: FieldPath, value: unknown): T {
  return put(object, path, value) as T;
}

function put(at: unknown, [name, ...rest]: FieldPath, value: unknown): unknown {
  if (name === undefined) return value;
  const fields: Fields = isMap(at) ? at : {};
  const current = Object.hasOwn(fields, name) ? fields[name] : undefined;
  const next = put(current, rest, value);
  if (next === undefined && current === undefined) return at;
  // As entries, so that a field of any name is nothing but a field.
  const entries = Object.hasOwn(fields, name)
    ? Object.entries(fields).map(([other, old]) => [other, other === name ? next : old] as const)
    : [...Object.entries(fields), [name, next] as const];
  return Object.fromEntries(entries.filter(([, child]) => child !== undefined));
}

/** An object of these fields alone. */
export function treeOf(fields: Iterable<readonly [FieldPath, unknown]>): Fields {
  let tree: Fields = {};
  for (const [path, value] of fields) tree = withField(tree, path, value);
  return tree;
}

/** Every field of a tree that is no map, with its path. */
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
