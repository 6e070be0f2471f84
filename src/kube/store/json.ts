/**
 * JSON as an API server keeps it.
 */

/** A JSON object whose fields nobody has looked at. */
export type JsonObject = { readonly [field: string]: unknown };

/** Whether a value is an object, and neither null nor a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object in a field, or an empty one. */
export function objectIn(value: unknown, field: string): JsonObject {
  const found = isObject(value) ? value[field] : undefined;
  return isObject(found) ? found : {};
}

/** Whether two values are the same JSON; a field that is undefined is none. */
export function isSameJson(one: unknown, other: unknown): boolean {
  return Bun.deepEquals(one, other);
}

/** The same JSON without a field. */
export function without(value: JsonObject, ...fields: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([field]) => !fields.includes(field)));
}
