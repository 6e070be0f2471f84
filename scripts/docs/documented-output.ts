/** Comparison of documented output with real output. */

/** Patterns for text that differs between runs, and the text that replaces it. */
const REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  // Which intermediate steps are printed depends on timing.
  [/^ *[\dsm]+ {2}(?!Ready$).*\n/gm, ''],
  [/\b(?:\d+[smhd])+\b/g, 'AGE'],
  [/\bv?1\.\d+\.\d+\b/g, 'VERSION'],
  // The name of a TenantRoute contains a hash of its host.
  [/\b(?<name>blue|red)-[0-9a-f]{10}\b/g, '$<name>-HASH'],
  [/[^\S\n]+/g, ' '],
  [/ $/gm, ''],
];

/** Returns the text without the differences between runs, and with single spaces. */
export function normalized(text: string): string {
  return REPLACEMENTS.reduce((result, [from, to]) => result.replaceAll(from, to), text).trim();
}

/** Reports whether the output matches the documentation. A documented line `...` matches any lines. */
export function isDocumented(output: string, documented: string): boolean {
  const parts = normalized(documented).split(/^\.\.\.$/m);
  const pattern = parts.map((part) => RegExp.escape(part)).join('[^]*');
  return new RegExp(`^${pattern}$`).test(normalized(output));
}
