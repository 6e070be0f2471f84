/**
 * Makes untrusted text safe for a terminal: it cannot move the cursor, start a new line or reverse the writing
 * direction.
 */

/** Control characters, bidirectional controls, line separators, the byte order mark and noncharacters. */
const UNSAFE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029\uFEFF\uFFFE\uFFFF]/gu;

const UNSAFE_RUNS = new RegExp(`${UNSAFE.source}+`, 'gu');

/** The unsafe characters that JSON.stringify does not escape. */
const UNSAFE_IN_JSON = /[\u007F-\u009F\p{Bidi_Control}\u2028\u2029\uFEFF\uFFFE\uFFFF]/gu;

/** Replaces each run of unsafe characters with a space. */
export function plainText(text: string): string {
  return text.replaceAll(UNSAFE_RUNS, ' ');
}

/** Replaces each unsafe character with its escape, such as `\u001b`. */
export function escapedText(text: string): string {
  return text.replaceAll(UNSAFE, escaped);
}

/** Returns JSON with the same value and with escapes for unsafe characters. */
export function escapedJson(json: string): string {
  return json.replaceAll(UNSAFE_IN_JSON, escaped);
}

/** Reports whether all characters of the text are safe. */
export function isPlain(text: string): boolean {
  return text.search(UNSAFE) < 0;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
