/**
 * Values as text that can be compared: a server gives the fields of an object back in an order of its own.
 */

/** JSON with the fields of every object in one order. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_field, child: unknown) =>
    typeof child === 'object' && child !== null && !Array.isArray(child)
      ? Object.fromEntries(
          Object.entries(child).toSorted(([one], [other]) => (one < other ? -1 : 1)),
        )
      : child,
  );
}
