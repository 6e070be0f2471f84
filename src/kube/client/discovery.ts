/**
 * What a server says that it serves.
 */

/** The plural names in the answer for a version; `pods/status` is part of `pods`, and none of its own. */
export function pluralsIn(answer: unknown): ReadonlySet<string> {
  const { resources } = (answer ?? {}) as { readonly resources?: unknown };
  const all: readonly unknown[] = Array.isArray(resources) ? resources : [];
  const names = all.map((one) => (one as { readonly name?: unknown } | null)?.name);
  return new Set(
    names.filter((name): name is string => typeof name === 'string' && !name.includes('/')),
  );
}
