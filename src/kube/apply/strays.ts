/**
 * What others have added to fields that are ours as a whole. Server-side apply lets everybody add to a map, and says
 * nothing of it; for some fields that is not good enough: one more label in a `nodeSelector`, and no node is left.
 */
import type { Difference } from './differences.ts';

/** Something that is there and must not be. */
export interface Stray extends Difference {
  /** The path, name by name: a label has dots of its own. */
  readonly names: readonly string[];
}

const POD = ['spec', 'template', 'spec'];

/** Of which node a pod may be on. Servers have no defaults for these. */
const PLACEMENT = ['nodeSelector', 'affinity', 'tolerations', 'nodeName'];

/** By kind: what is ours as a whole, asked for or not. */
const WHOLE_FIELDS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  DaemonSet: PLACEMENT.map((field) => [...POD, field]),
};

/** All of them. Lists that are asked for have none: what is more in them is a difference of the list. */
export function strays(desired: unknown, live: unknown): readonly Stray[] {
  const kind = fieldIn(desired, 'kind');
  const fields = (typeof kind === 'string' && WHOLE_FIELDS[kind]) || [];
  return fields.flatMap((names) => {
    const [wanted, found] = [desired, live].map((object) => names.reduce(fieldIn, object));
    if (isNothing(found)) return [];
    if (isNothing(wanted)) return [strayAt(names, found)];
    if (!isMap(wanted) || !isMap(found)) return [];
    return Object.entries(found)
      .filter(([name, value]) => !Object.hasOwn(wanted, name) && !isNothing(value))
      .map(([name, value]) => strayAt([...names, name], value));
  });
}

/** The merge patch that takes them away. */
export function patchWithout(found: readonly Stray[]): Readonly<Record<string, unknown>> {
  const patch: Record<string, unknown> = {};
  for (const { names } of found) {
    let place = patch;
    for (const name of names.slice(0, -1)) {
      place = (place[name] ??= {}) as Record<string, unknown>;
    }
    place[names.at(-1) ?? ''] = null;
  }
  return patch;
}

function strayAt(names: readonly string[], found: unknown): Stray {
  return { path: names.map((name) => `.${name}`).join(''), found, names };
}

function fieldIn(value: unknown, name: string): unknown {
  return isMap(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function isNothing(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
