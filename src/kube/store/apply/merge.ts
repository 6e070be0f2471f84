/** Merges applied fields into an object, and removes fields that no longer have an owner. */
import { isObject, type JsonObject } from '../json.ts';
import { itemStep, reaches, stepTo } from './field-set.ts';
import { isAtomicMap, listTopology } from './list-types.ts';

/** Returns the live object with the applied fields. */
export function mergeApplied(live: JsonObject, applied: JsonObject, kind: string): JsonObject {
  return mergeMaps(live, applied, '');

  function merge(old: unknown, next: unknown, path: string): unknown {
    if (Array.isArray(next)) return mergeLists(Array.isArray(old) ? old : [], next, path);
    if (isObject(next) && isObject(old) && !isAtomicMap(kind, path)) {
      return mergeMaps(old, next, path);
    }
    return next;
  }

  function mergeMaps(old: JsonObject, next: JsonObject, path: string): JsonObject {
    const merged: Record<string, unknown> = { ...old };
    for (const [field, value] of Object.entries(next)) {
      if (value === undefined || value === null) continue;
      merged[field] = merge(old[field], value, path === '' ? field : `${path}.${field}`);
    }
    return merged;
  }

  function mergeLists(
    old: readonly unknown[],
    next: readonly unknown[],
    path: string,
  ): readonly unknown[] {
    const topology = listTopology(kind, path);
    if (topology.type === 'atomic') return next;
    const stepOf =
      topology.type === 'set'
        ? (item: unknown) => JSON.stringify(item)
        : (item: unknown) => itemStep(item, topology.keys);
    const items = new Map(old.map((item) => [stepOf(item), item]));
    for (const item of next) {
      const step = stepOf(item);
      items.set(step, items.has(step) ? merge(items.get(step), item, path) : item);
    }
    return [...items.values()];
  }
}

/** Returns the object without the fields that were given up. Maps and lists that become empty are removed too. */
export function pruneFields(
  object: JsonObject,
  kind: string,
  released: ReadonlySet<string>,
  owned: ReadonlySet<string>,
): JsonObject {
  const pruned = pruneMap(object, '', '');
  return isObject(pruned) ? pruned : {};

  function prune(value: unknown, path: string, schemaPath: string): unknown {
    if (released.has(path) && !reaches(owned, path)) return undefined;
    if (Array.isArray(value)) return pruneList(value, path, schemaPath);
    return isObject(value) ? pruneMap(value, path, schemaPath) : value;
  }

  function pruneMap(value: JsonObject, path: string, schemaPath: string): JsonObject | undefined {
    const fields = Object.entries(value)
      .map(([field, child]): [string, unknown] => [
        field,
        prune(
          child,
          stepTo(path, `f:${field}`),
          schemaPath === '' ? field : `${schemaPath}.${field}`,
        ),
      ])
      .filter(([, child]) => child !== undefined);
    const isEmptied = fields.length === 0 && Object.keys(value).length > 0;
    return isEmptied && path !== '' && !owned.has(path) ? undefined : Object.fromEntries(fields);
  }

  function pruneList(items: readonly unknown[], path: string, schemaPath: string): unknown {
    const topology = listTopology(kind, schemaPath);
    if (topology.type === 'atomic') return items;
    const keys = topology.type === 'map' ? topology.keys : [];
    const rest = items.flatMap((item) => {
      const step = topology.type === 'set' ? `v:${JSON.stringify(item)}` : itemStep(item, keys);
      const left = prune(item, stepTo(path, step), schemaPath);
      if (left === undefined) return [];
      return [isObject(item) && isObject(left) ? { ...only(item, keys), ...left } : left];
    });
    return rest.length === 0 && items.length > 0 ? undefined : rest;
  }
}

/** The keys of an item. An item that stays because another manager owns part of it keeps its keys. */
function only(item: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(item).filter(([field]) => keys.includes(field)));
}
