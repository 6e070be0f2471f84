/**
 * Writes YAML for kubectl, which reads YAML 1.1. There `yes` is a boolean, and U+2028 ends a line. Every value is
 * escaped: a value that ends its scalar or comment early would control what the user applies.
 */
import { Document, visit } from 'yaml';
import { escapedJson, escapedText, isPlain } from '../text/plain-text.ts';

/** Returns a value as YAML. Double-quoted YAML strings support the escapes of JSON. */
export function yamlText(value: unknown): string {
  const document = new Document(value, { compat: 'yaml-1.1', aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === 'string' && !areLinesPlain(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  return escapedJson(document.toString({ lineWidth: 0 }));
}

/** Returns a one-line comment. */
export function yamlComment(text: string): string {
  return `# ${escapedText(text)}\n`;
}

function areLinesPlain(text: string): boolean {
  return text.split(/[\n\t]/).every(isPlain);
}
