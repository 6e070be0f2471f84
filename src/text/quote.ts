/**
 * What a server said, fit for a message.
 */

/** Enough for a sentence, too little for a page; an object has room for many of them. */
const MAX_LENGTH = 300;

/** The text in one line, without control characters, those of writing direction among them, and not longer than a few lines on a screen. */
export function quoted(text: string, maxLength: number = MAX_LENGTH): string {
  // Whoever sends megabytes does not get them searched.
  const looked = text.slice(0, 4 * maxLength);
  const line = looked
    .replace(/\p{Bidi_Control}/gu, '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  const isWhole = line.length <= maxLength && looked.length === text.length;
  return isWhole ? line : `${line.slice(0, maxLength - 1)}…`.toWellFormed();
}
