/** Wraps text for a terminal. */

/** Returns lines with as many words as fit. A word that is too wide gets its own line. */
export function wrapWords(words: readonly string[], width: number): readonly string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of words) {
    const longer = current === '' ? word : `${current} ${word}`;
    if (current !== '' && Bun.stringWidth(longer) > width) {
      lines.push(current);
      current = word;
    } else {
      current = longer;
    }
  }
  return [...lines, current];
}

/**
 * Text that is never broken: a command after a colon, text in backticks or shell quotes, and a word. So a user can copy
 * a command or a path as a whole: a terminal copies lines that it has wrapped itself without a line break.
 */
const UNITS =
  /(?<=: )(?:chmod|ip|kubectl|openssl|snicket) [^;)]*[^;)\s]\S*|(?<!\S)\(?`[^`]*`\S*|(?<!\S)\(?'[^']*'\S*|\S+/g;

/** A label or an indentation. The following lines are aligned with the text after it. */
const HEAD = /^(?:(?:error|warning|note|hint): | +)/;

/** Returns a sentence in lines that fit. */
export function wrapSentence(text: string, columns: number): string {
  if (Bun.stringWidth(text) <= columns) return text;
  const [head = ''] = HEAD.exec(text) ?? [];
  const units = text.slice(head.length).match(UNITS) ?? [];
  const lines = wrapWords(units, columns - head.length);
  return head + lines.join(`\n${' '.repeat(head.length)}`);
}
