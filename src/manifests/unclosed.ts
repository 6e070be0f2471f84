/**
 * Finds brackets and quotes that are not closed. The parser reports them at a later token that does not fit, but users
 * need the position where they are opened.
 */
import { CST } from 'yaml';

const CLOSING: Readonly<Record<string, string>> = { '{': '}', '[': ']' };

/** Returns the offsets of all unclosed brackets and quotes, in ascending order. */
export function unclosedIn(tokens: Iterable<CST.Token>): readonly number[] {
  const offsets: number[] = [];
  for (const token of tokens) {
    if (token.type !== 'document') continue;
    CST.visit(token, ({ key, value }) => {
      for (const part of [key, value]) {
        if (part && isUnclosed(part)) offsets.push(part.offset);
      }
    });
  }
  return offsets.toSorted((a, b) => a - b);
}

function isUnclosed(token: CST.Token): boolean {
  if (token.type === 'flow-collection') {
    return !token.end.some(({ source }) => source === CLOSING[token.start.source]);
  }
  if (token.type === 'double-quoted-scalar') {
    // The last quote closes the scalar, unless it is escaped.
    return !/(?<!\\)(?:\\\\)*"$/.test(token.source.slice(1));
  }
  // Two single quotes are one escaped quote.
  return token.type === 'single-quoted-scalar' && !/(?<!')'(?:'')*$/.test(token.source.slice(1));
}

/** Returns the message for the opening character. */
export function unclosedSentence(sign: string): string {
  const closing = CLOSING[sign];
  return closing === undefined
    ? 'unclosed quote: add the closing quote'
    : `unclosed ${sign}: add ${closing}; on a separate line, indent it more than this line`;
}
