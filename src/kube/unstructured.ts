/**
 * Reads fields of objects that have no type here, such as the custom resources of providers. Nothing throws: a field that
 * is missing or has another type reads as absent.
 */

/** Returns the value at a path. */
export function valueAt(object: unknown, ...path: readonly string[]): unknown {
  let value = object;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}

/** Returns the string at a path. An empty string reads as absent. */
export function textAt(object: unknown, ...path: readonly string[]): string | undefined {
  const value = valueAt(object, ...path);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Returns the number at a path. */
export function numberAt(object: unknown, ...path: readonly string[]): number | undefined {
  const value = valueAt(object, ...path);
  return typeof value === 'number' ? value : undefined;
}

/** Returns the list at a path, or an empty list. */
export function listAt(object: unknown, ...path: readonly string[]): readonly unknown[] {
  const value = valueAt(object, ...path);
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/** Returns the strings in the list at a path. */
export function textsAt(object: unknown, ...path: readonly string[]): readonly string[] {
  return listAt(object, ...path).filter((value) => typeof value === 'string');
}

/** Returns the map of strings at a path, or an empty map. */
export function textMapAt(
  object: unknown,
  ...path: readonly string[]
): ReadonlyMap<string, string> {
  const value = valueAt(object, ...path);
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return new Map(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/** Returns the condition with this `type` from the list at a path. */
export function conditionAt(object: unknown, type: string, ...path: readonly string[]): unknown {
  return listAt(object, ...path).find((condition) => textAt(condition, 'type') === type);
}

const MAX_QUOTE_LENGTH = 300;

/** Returns the message at a path in a form that can be quoted in a sentence: one line, shortened, no trailing period. */
export function quotedAt(object: unknown, ...path: readonly string[]): string {
  const text = (textAt(object, ...path) ?? 'nothing').replaceAll(/\s+/g, ' ').trim();
  const short = text.length > MAX_QUOTE_LENGTH ? `${text.slice(0, MAX_QUOTE_LENGTH)}...` : text;
  return short.replace(/(?<!\.)\.$/, '');
}
