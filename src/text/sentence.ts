/**
 * Full sentences, for messages that end with the text of another program.
 */

/** Returns a text with a capital at its start and a full stop at its end. */
export function sentence(text: string): string {
  const start = `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
  return /[.!?…]$/.test(start) ? start : `${start}.`;
}
