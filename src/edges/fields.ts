/**
 * Fields of objects whose kind somebody else defines. Whatever is there, nothing throws: a field that is absent or of
 * another type is simply not there.
 */

/** The value at a path. */
export function valueAt(object: unknown, ...path: readonly string[]): unknown {
  let value = object;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}

/** The text at a path; an empty one is none. */
export function textAt(object: unknown, ...path: readonly string[]): string | undefined {
  const value = valueAt(object, ...path);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The number at a path. */
export function numberAt(object: unknown, ...path: readonly string[]): number | undefined {
  const value = valueAt(object, ...path);
  return typeof value === 'number' ? value : undefined;
}

/** The list at a path; empty if there is none. */
export function listAt(object: unknown, ...path: readonly string[]): readonly unknown[] {
  const value = valueAt(object, ...path);
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/** The texts in the list at a path. */
export function textsAt(object: unknown, ...path: readonly string[]): readonly string[] {
  return listAt(object, ...path).filter((value) => typeof value === 'string');
}

/** The map of texts at a path; empty if there is none. */
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

/** The entry with this `type` among the conditions at a path. */
export function conditionAt(object: unknown, type: string, ...path: readonly string[]): unknown {
  return listAt(object, ...path).find((condition) => textAt(condition, 'type') === type);
}

const SAID_LENGTH = 300;

/** What a controller says at a path, to be quoted in a sentence of ours: one line, no full stop. */
export function saidAt(object: unknown, ...path: readonly string[]): string {
  const text = (textAt(object, ...path) ?? 'nothing').replaceAll(/\s+/g, ' ').trim();
  const short = text.length > SAID_LENGTH ? `${text.slice(0, SAID_LENGTH)}...` : text;
  return short.replace(/(?<!\.)\.$/, '');
}
