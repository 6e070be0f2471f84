/**
 * JSON values in an API server.
 */

/** A JSON object whose fields have not been validated. */
export type JsonObject = { readonly [field: string]: unknown };

/** Reports whether a value is an object, and neither null nor a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the object in a field, or an empty object. */
export function objectIn(value: unknown, field: string): JsonObject {
  const found = isObject(value) ? value[field] : undefined;
  return isObject(found) ? found : {};
}

/** Reports whether two values are the same JSON. Undefined fields are ignored. */
export function isSameJson(a: unknown, b: unknown): boolean {
  return Bun.deepEquals(a, b);
}

/** Returns the object without some fields. */
export function without(value: JsonObject, ...fields: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([field]) => !fields.includes(field)));
}
