/**
 * What a server says that it serves.
 */

/** The versions in the answer for a group, the preferred one first. */
export function versionsIn(answer: unknown): readonly string[] {
  const { versions, preferredVersion } = (answer ?? {}) as {
    // The core group is older than the others, and says less.
    readonly versions?: readonly (string | { readonly version: string })[];
    readonly preferredVersion?: { readonly version: string };
  };
  const all = (versions ?? []).map((one) => (typeof one === 'string' ? one : one.version));
  const preferred = preferredVersion?.version;
  return preferred === undefined ? all : [preferred, ...all.filter((one) => one !== preferred)];
}

/** The plural names in the answer for a version; `pods/status` is part of `pods`, and none of its own. */
export function pluralsIn(answer: unknown): ReadonlySet<string> {
  const { resources = [] } = (answer ?? {}) as {
    readonly resources?: readonly { readonly name: string }[];
  };
  return new Set(resources.map(({ name }) => name).filter((name) => !name.includes('/')));
}
