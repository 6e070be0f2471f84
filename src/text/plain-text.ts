/**
 * What others wrote, fit for a terminal: nothing of it moves the cursor, begins a line of its own or turns the writing
 * around.
 */

/** Control characters, those of writing direction, and what some take for the end of a line, or for no character. */
const UNSAFE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029\uFEFF\uFFFE\uFFFF]/gu;

const UNSAFE_RUNS = new RegExp(`${UNSAFE.source}+`, 'gu');

/** The same of what JSON leaves as it is. */
const UNSAFE_IN_JSON = /[\u007F-\u009F\p{Bidi_Control}\u2028\u2029\uFEFF\uFFFE\uFFFF]/gu;

/** For people: a blank in place of what is not fit. */
export function plainText(text: string): string {
  return text.replaceAll(UNSAFE_RUNS, ' ');
}

/** For people who have to see what is there: each as its number, `\u001b`. */
export function escapedText(text: string): string {
  return text.replaceAll(UNSAFE, escaped);
}

/** JSON of the same value: it has the same escapes. */
export function escapedJson(json: string): string {
  return json.replaceAll(UNSAFE_IN_JSON, escaped);
}

/** Whether there is something that {@link escapedText} would change. */
export function isPlain(text: string): boolean {
  return text.search(UNSAFE) < 0;
}

function escaped(sign: string): string {
  return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
