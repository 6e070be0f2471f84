/**
 * Finds fields that other clients added to maps that Snicket must own exclusively. Server-side apply lets every manager
 * add to a map without a conflict. For some maps that is not acceptable: with one more label in a `nodeSelector`, no
 * node may match.
 */
import type { Difference } from './differences.ts';

/** A live field that must not exist. */
interface ExtraField extends Difference {
  /** The path as a list of names, since label names contain dots. */
  readonly names: readonly string[];
}

const POD = ['spec', 'template', 'spec'];

/** The fields that control scheduling. The API server sets no defaults for them. */
const SCHEDULING_FIELDS = ['nodeSelector', 'affinity', 'tolerations', 'nodeName'];

/** The fields that Snicket owns exclusively by kind, whether they are set in the desired state or not. */
const EXCLUSIVE_FIELDS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  DaemonSet: SCHEDULING_FIELDS.map((field) => [...POD, field]),
};

/** Returns all extra fields. Desired lists have none: extra items are already differences. */
export function extraFields(desired: unknown, live: unknown): readonly ExtraField[] {
  const kind = fieldIn(desired, 'kind');
  const fields = (typeof kind === 'string' && EXCLUSIVE_FIELDS[kind]) || [];
  return fields.flatMap((names) => {
    const [wanted, found] = [desired, live].map((object) => names.reduce(fieldIn, object));
    if (isEmpty(found)) return [];
    if (isEmpty(wanted)) return [extraFieldAt(names, found)];
    if (!isMap(wanted) || !isMap(found)) return [];
    return Object.entries(found)
      .filter(([name, value]) => !Object.hasOwn(wanted, name) && !isEmpty(value))
      .map(([name, value]) => extraFieldAt([...names, name], value));
  });
}

/** Returns the merge patch that removes the fields. */
export function removalPatch(found: readonly ExtraField[]): Readonly<Record<string, unknown>> {
  const patch: Record<string, unknown> = {};
  for (const { names } of found) {
    let parent = patch;
    for (const name of names.slice(0, -1)) {
      parent = (parent[name] ??= {}) as Record<string, unknown>;
    }
    parent[names.at(-1) ?? ''] = null;
  }
  return patch;
}

function extraFieldAt(names: readonly string[], found: unknown): ExtraField {
  return { path: names.map((name) => `.${name}`).join(''), found, names };
}

function fieldIn(value: unknown, name: string): unknown {
  return isMap(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
