/**
 * YAML as kubectl reads it, which knows version 1.1 of it: there, `yes` is a boolean and U+2028 the end of a line. What
 * others wrote into a value must stay in that value, or who applies the text applies what they like.
 */
import { Document, visit } from 'yaml';
import { escapedJson, escapedText, isPlain } from '../text/plain-text.ts';

/** A value. In the quotes of YAML, the escapes of JSON are escapes. */
export function yamlText(value: unknown): string {
  const document = new Document(value, { compat: 'yaml-1.1', aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === 'string' && !areLinesPlain(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  return escapedJson(document.toString({ lineWidth: 0 }));
}

/** One line of comment. */
export function yamlComment(text: string): string {
  return `# ${escapedText(text)}\n`;
}

function areLinesPlain(text: string): boolean {
  return text.split(/[\n\t]/).every(isPlain);
}
