/**
 * Brackets and quotes that are opened and never closed. The parser tells of them where something else begins that does not
 * fit; whoever wrote the text looks for the place where they are opened.
 */
import { CST } from 'yaml';

const CLOSING: Readonly<Record<string, string>> = { '{': '}', '[': ']' };

/** Where each of them is opened, from the first on. */
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
    // The last one ends it, unless there is a \ of its own before it.
    return !/(?<!\\)(?:\\\\)*"$/.test(token.source.slice(1));
  }
  // Two of them stand for one.
  return token.type === 'single-quoted-scalar' && !/(?<!')'(?:'')*$/.test(token.source.slice(1));
}

/** What to say of one, by the sign that opens it. */
export function unclosedSentence(sign: string): string {
  const closing = CLOSING[sign];
  return closing === undefined
    ? 'this quote is not closed; add it where the text ends'
    : `this ${sign} is not closed; add the ${closing}; on a line of its own it is indented more than this one`;
}
