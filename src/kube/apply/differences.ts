/**
 * Compares live objects with the desired state.
 */
import { extraFields } from './extra-fields.ts';

/** A field whose live value differs. */
export interface Difference {
  /** For example `.spec.ports[0].port`. */
  readonly path: string;
  /** The live value, or undefined if absent. */
  readonly found: unknown;
}

/** A difference with the desired value. */
interface Comparison extends Difference {
  readonly wanted: unknown;
}

/**
 * Returns the fields of `desired` that `live` does not match. Fields that only `live` has are ignored: they are
 * defaults of the server, or have other owners (but see `extraFields`). Lists must have the same length and are
 * compared item by item, since most lists of the API are one field. Undefined and null fields in `desired` are
 * ignored.
 */
export function differences(desired: unknown, live: unknown): readonly Difference[] {
  return comparisons(desired, live).map(({ path, found }) => ({ path, found }));
}

/** Returns the same differences with the desired values, for display. */
export function comparisons(desired: unknown, live: unknown): readonly Comparison[] {
  const found: Comparison[] = [];
  compare(desired, live, '', found);
  for (const { path, found: extra } of extraFields(desired, live)) {
    found.push({ path, found: extra, wanted: undefined });
  }
  return found;
}

function compare(desired: unknown, live: unknown, path: string, found: Comparison[]): void {
  if (desired === undefined || desired === null || Object.is(desired, live)) return;
  if (Array.isArray(desired)) {
    if (!Array.isArray(live) || live.length !== desired.length) {
      found.push({ path, found: live, wanted: desired });
      return;
    }
    for (const [index, item] of desired.entries()) {
      compare(item, live[index], `${path}[${index}]`, found);
    }
    return;
  }
  if (isMap(desired) && isMap(live)) {
    for (const [field, value] of Object.entries(desired)) {
      // Own properties only: a label may be named `constructor`.
      const present = Object.hasOwn(live, field) ? live[field] : undefined;
      compare(value, present, `${path}.${field}`, found);
    }
    return;
  }
  found.push({ path, found: live, wanted: desired });
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
