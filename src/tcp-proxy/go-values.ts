/** Parses values in the syntax of Go's flag package. */

const TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const FALSE: ReadonlySet<string> = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

/** Parses a boolean. @throws TypeError with a message for the user. */
export function parseGoBoolean(text: string): boolean {
  if (TRUE.has(text)) return true;
  if (FALSE.has(text)) return false;
  throw new TypeError(`'${text}' is not true or false`);
}
