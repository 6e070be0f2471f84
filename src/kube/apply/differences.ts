/**
 * Where an object that is there is not as it was asked for.
 */
import { strays } from './strays.ts';

/** One place. */
export interface Difference {
  /** As `.spec.ports[0].port`. */
  readonly path: string;
  /** What is there; undefined if nothing. */
  readonly found: unknown;
}

/** One place, with what is asked for there. */
export interface Comparison extends Difference {
  readonly wanted: unknown;
}

/**
 * The places where `live` does not have what `desired` asks for. Fields that only `live` has are none: they are defaults of
 * the server, or belong to others; but see `strays`. Lists are compared item by item and must be of one length, for most lists of the API are
 * one field. An undefined or null field asks for nothing.
 */
export function differences(desired: unknown, live: unknown): readonly Difference[] {
  return comparisons(desired, live).map(({ path, found }) => ({ path, found }));
}

/** The same, for whoever shows them. */
export function comparisons(desired: unknown, live: unknown): readonly Comparison[] {
  const found: Comparison[] = [];
  compare(desired, live, '', found);
  for (const { path, found: stray } of strays(desired, live)) {
    found.push({ path, found: stray, wanted: undefined });
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
      // Own fields only: a label may be called `constructor`.
      const there = Object.hasOwn(live, field) ? live[field] : undefined;
      compare(value, there, `${path}.${field}`, found);
    }
    return;
  }
  found.push({ path, found: live, wanted: desired });
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
