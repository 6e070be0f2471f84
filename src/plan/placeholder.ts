/**
 * Placeholders for values that only the operator generates or that are not given, so that a plan can be shown without
 * them. No placeholder is valid PEM or base64: code that uses one as a value fails at once.
 */

/** Returns the placeholder for a missing value, such as `(a new certificate: there is none yet)`. */
export function placeholder(description: string): string {
  return `(${description})`;
}

/** Reports whether a text is a placeholder. */
export function isPlaceholder(text: string): boolean {
  return text.startsWith('(') && text.endsWith(')');
}
