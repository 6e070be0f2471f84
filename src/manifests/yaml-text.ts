/**
 * YAML as kubectl reads it, which knows version 1.1 of it: there, `yes` is a boolean and U+2028 the end of a line. What
 * others wrote into a value must stay in that value, or who applies the text applies what they like.
 */
import { Document, visit } from 'yaml';
import { escapedJson, escapedText, isPlain } from '../telemetry/plain-text.ts';

/** A value. */
export function yamlText(value: unknown): string {
  return documentText(new Document(value, { compat: 'yaml-1.1', aliasDuplicateObjects: false }));
}

/** A document. In the quotes of YAML, the escapes of JSON are escapes. */
export function documentText(document: Document): string {
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
  return text.split('\n').every(isPlain);
}
