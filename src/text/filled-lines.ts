/**
 * Texts for a terminal, in lines that fit it.
 */

/** As many words in a line as fit; one that is wider has a line of its own. */
export function filledLines(words: readonly string[], width: number): readonly string[] {
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
 * What stands together: a command behind a colon, whatever is in backticks or in the quotes of a shell, a word. Who copies
 * a command or a path gets it whole, for a terminal that breaks a line itself does not copy the break.
 */
const UNITS =
  /(?<=: )(?:chmod|ip|kubectl|openssl|snicket) [^;)]*[^;)\s]\S*|(?<!\S)\(?`[^`]*`\S*|(?<!\S)\(?'[^']*'\S*|\S+/g;

/** What a line is about, or its indentation; those below it begin where its sentence does. */
const HEAD = /^(?:(?:error|warning|note): | +)/;

/** A sentence in lines that fit. */
export function sentenceText(text: string, columns: number): string {
  if (Bun.stringWidth(text) <= columns) return text;
  const [head = ''] = HEAD.exec(text) ?? [];
  const units = text.slice(head.length).match(UNITS) ?? [];
  const lines = filledLines(units, columns - head.length);
  return head + lines.join(`\n${' '.repeat(head.length)}`);
}
