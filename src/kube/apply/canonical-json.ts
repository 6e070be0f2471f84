/**
 * Serializes values for comparison. A server may return the fields of an object in any order.
 */

/** Returns JSON with the fields of every object sorted. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_field, child: unknown) =>
    typeof child === 'object' && child !== null && !Array.isArray(child)
      ? Object.fromEntries(Object.entries(child).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : child,
  );
}
