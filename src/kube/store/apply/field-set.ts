/**
 * Field sets in the notation of `managedFields`.
 *
 * A path is its steps joined by a NUL: `f:spec`, `f:ports`, `k:{"port":443,"protocol":"TCP"}`, `f:name`. Flat sets of
 * paths make union and difference simple. They become trees only where they are stored.
 */
import { isObject, type JsonObject } from '../json.ts';
import { isAtomicMap, KEY_DEFAULTS, listTopology } from './list-types.ts';

/** Every field that can have an owner, with its value. List items have no value. */
export type Fields = ReadonlyMap<string, unknown>;

const SEPARATOR = '\u0000';

/** Fields without an owner. */
const SYSTEM_FIELDS: ReadonlySet<string> = new Set(
  [
    ['apiVersion'],
    ['kind'],
    ...[
      'name',
      'namespace',
      'uid',
      'resourceVersion',
      'generation',
      'creationTimestamp',
      'deletionTimestamp',
      'deletionGracePeriodSeconds',
      'managedFields',
    ].map((field) => ['metadata', field]),
  ].map((path) => path.map((field) => `f:${field}`).join(SEPARATOR)),
);

/** Returns the path extended by one step. */
export function stepTo(path: string, step: string): string {
  return path === '' ? step : `${path}${SEPARATOR}${step}`;
}

/** Reports whether a set contains this path or a path below it. */
export function reaches(set: Iterable<string>, path: string): boolean {
  const below = `${path}${SEPARATOR}`;
  for (const owned of set) if (owned === path || owned.startsWith(below)) return true;
  return false;
}

/** Returns the step of an item of a keyed list. */
export function itemStep(item: unknown, keys: readonly string[]): string {
  const found = isObject(item) ? item : {};
  return `k:${JSON.stringify(Object.fromEntries(keys.map((key) => [key, found[key] ?? KEY_DEFAULTS[key]])))}`;
}

/** Returns the fields of an object. */
export function fieldsOf(object: JsonObject, kind: string): Fields {
  const fields = new Map<string, unknown>();
  walk(object, '', '');
  return fields;

  function walk(value: unknown, path: string, schemaPath: string): void {
    if (value === undefined || value === null || SYSTEM_FIELDS.has(path)) return;
    if (Array.isArray(value)) walkList(value, path, schemaPath);
    else if (isObject(value) && Object.keys(value).length > 0 && !isAtomicMap(kind, schemaPath)) {
      for (const [field, child] of Object.entries(value)) {
        walk(
          child,
          stepTo(path, `f:${field}`),
          schemaPath === '' ? field : `${schemaPath}.${field}`,
        );
      }
    } else if (path !== '') fields.set(path, value);
  }

  function walkList(items: readonly unknown[], path: string, schemaPath: string): void {
    const topology = listTopology(kind, schemaPath);
    switch (topology.type) {
      case 'atomic':
        fields.set(path, items);
        return;
      case 'set':
        for (const item of items) fields.set(stepTo(path, `v:${JSON.stringify(item)}`), undefined);
        return;
      case 'map':
        for (const item of items) {
          const at = stepTo(path, itemStep(item, topology.keys));
          fields.set(at, undefined);
          walk(item, at, schemaPath);
        }
    }
  }
}

type Tree = { [step: string]: Tree };

/** Returns the paths as a `fieldsV1` tree. */
export function toFieldsV1(paths: Iterable<string>): JsonObject {
  const tree: Tree = {};
  for (const path of [...paths].toSorted()) {
    let at = tree;
    for (const step of path.split(SEPARATOR)) at = at[step] ??= {};
    // An item that is itself owned is marked, besides the fields in it.
    if (/^[kv]:/.test(path.slice(path.lastIndexOf(SEPARATOR) + 1))) at['.'] = {};
  }
  return tree;
}

/** Returns the paths of a `fieldsV1` tree. */
export function fromFieldsV1(tree: unknown, path = ''): ReadonlySet<string> {
  const paths = new Set<string>();
  const steps = isObject(tree) ? Object.entries(tree) : [];
  if (steps.length === 0 && path !== '') paths.add(path);
  for (const [step, below] of steps) {
    if (step === '.') paths.add(path);
    else for (const nested of fromFieldsV1(below, stepTo(path, step))) paths.add(nested);
  }
  return paths;
}

/** Returns a field as conflicts name it: `.spec.ports[port=443,protocol="TCP"].name`. */
export function fieldText(path: string): string {
  return path
    .split(SEPARATOR)
    .map((step) => {
      const rest = step.slice(2);
      if (step.startsWith('f:')) return `.${rest}`;
      if (step.startsWith('v:')) return `[=${rest}]`;
      const keys = Object.entries(JSON.parse(rest) as JsonObject);
      return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(',')}]`;
    })
    .join('');
}
