/**
 * Texts in place of values that only the operator makes, or that nobody has said: so that a plan can be shown without
 * them. None is a PEM or base64, so whoever takes one for the value is told at once.
 */

/** A text for something that is not there yet: `(a new certificate: there is none yet)`. */
export function placeholder(what: string): string {
  return `(${what})`;
}

/** Whether a value is a text in its place. */
export function isPlaceholder(text: string): boolean {
  return text.startsWith('(') && text.endsWith(')');
}
