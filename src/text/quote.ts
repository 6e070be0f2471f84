/** Quotes the message of a server in another message. */

/** Enough for a sentence, and small compared with the size limit of an object. */
const MAX_LENGTH = 300;

/**
 * Returns the text in one line, without control characters and bidirectional controls, and limited to a few lines of a
 * screen.
 */
export function quoted(text: string, maxLength: number = MAX_LENGTH): string {
  // Limits the search in very long messages.
  const prefix = text.slice(0, 4 * maxLength);
  const line = prefix
    .replace(/\p{Bidi_Control}/gu, '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  const fits = line.length <= maxLength && prefix.length === text.length;
  return fits ? line : `${line.slice(0, maxLength - 1)}…`.toWellFormed();
}
