/**
 * Messages for YAML syntax errors, for the author of the text. They quote nothing of the text, because it may contain
 * secrets. The position is reported separately.
 */
import type { ErrorCode } from 'yaml';

const INDENTATION =
  'unexpected content: check the indentation of this line and the previous one, or quote the text';
const SECOND_COLON =
  'nested mapping in a value: check the indentation, or quote a value that contains a colon';
const NOT_CLOSED = 'unclosed element: add the missing quote, bracket, brace or colon';
const ANCHOR = 'invalid anchor or alias: quote a value that begins with * or &';
const LONG_NAME = 'missing colon after a key: add it, or quote the text';

const SENTENCES: Readonly<Partial<Record<ErrorCode, string>>> = {
  BAD_INDENT: INDENTATION,
  UNEXPECTED_TOKEN: INDENTATION,
  BLOCK_AS_IMPLICIT_KEY: SECOND_COLON,
  MULTILINE_IMPLICIT_KEY: LONG_NAME,
  KEY_OVER_1024_CHARS: LONG_NAME,
  MISSING_CHAR: NOT_CLOSED,
  BLOCK_IN_FLOW: 'block collection inside [ ] or { }: use flow style, such as [a, b] or {a: b}',
  BAD_SCALAR_START: 'value begins with @, ` or %: quote it',
  BAD_DQ_ESCAPE: 'invalid escape sequence: use \\\\ for a backslash, or single quotes',
  TAB_AS_INDENT: 'tab in the indentation: use spaces',
  DUPLICATE_KEY: 'duplicate key: remove one',
  TAG_RESOLVE_FAILED: 'unknown tag: quote a value that begins with !',
  BAD_COLLECTION_TYPE: 'unknown tag: quote a value that begins with !',
  MULTIPLE_TAGS: 'several tags on one value: quote a value that begins with !',
  MULTIPLE_ANCHORS: ANCHOR,
  BAD_ALIAS: ANCHOR,
  ALIAS_PROPS: ANCHOR,
  BAD_PROP_ORDER: ANCHOR,
  BAD_DIRECTIVE: 'unknown directive: remove the line that begins with %',
};

/** Returns the message for an error code of the parser. */
export function syntaxSentence(code: ErrorCode): string {
  return SENTENCES[code] ?? 'invalid YAML';
}
