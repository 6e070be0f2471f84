/**
 * What a server said, fit for a message.
 */

/** Enough for a sentence, too little for a page; an object has room for many of them. */
const MAX_LENGTH = 300;

/** The text in one line, without control characters, and not longer than a few lines on a screen. */
export function quoted(text: string): string {
  // Whoever sends megabytes does not get them searched.
  const line = text
    .slice(0, 4 * MAX_LENGTH)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  const isWhole = line.length <= MAX_LENGTH && text.length <= 4 * MAX_LENGTH;
  return isWhole ? line : `${line.slice(0, MAX_LENGTH - 1)}…`.toWellFormed();
}
