/**
 * API discovery.
 */

/**
 * Returns the plural names in the discovery document of a group version, without subresources such as `pods/status`.
 */
export function pluralsIn(response: unknown): ReadonlySet<string> {
  const { resources } = (response ?? {}) as { readonly resources?: unknown };
  const all: readonly unknown[] = Array.isArray(resources) ? resources : [];
  const names = all.map((entry) => (entry as { readonly name?: unknown } | null)?.name);
  return new Set(
    names.filter((name): name is string => typeof name === 'string' && !name.includes('/')),
  );
}
