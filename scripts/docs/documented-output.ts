/** Comparison of documented output with real output. */

/** What changes from run to run, and the text that replaces it. */
const VARIABLE: readonly (readonly [RegExp, string])[] = [
  // Steps on the way to a state are timing.
  [/^ *\d+s {2}(?!Ready$).*\n/gm, ''],
  [/\b\d+[smhd]\b/g, 'AGE'],
  [/\bv?1\.\d+\.\d+\b/g, 'VERSION'],
  // The name of a TenantRoute contains a hash of its host.
  [/\b(?<name>blue|red)-[0-9a-f]{10}\b/g, '$<name>-HASH'],
  [/[^\S\n]+/g, ' '],
  [/ $/gm, ''],
];

/** Returns text of which equal parts are equal in each run, with single spaces. */
export function comparable(text: string): string {
  return VARIABLE.reduce((made, [from, to]) => made.replaceAll(from, to), text).trim();
}

/** Reports whether the output is the documented one. A documented line `...` stands for any lines. */
export function isDocumented(output: string, documented: string): boolean {
  const parts = comparable(documented).split(/^\.\.\.$/m);
  const pattern = parts.map((part) => RegExp.escape(part)).join('[^]*');
  return new RegExp(`^${pattern}$`).test(comparable(output));
}
