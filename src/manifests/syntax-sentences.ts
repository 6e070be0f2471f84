/**
 * Messages for YAML syntax errors, for the author of the text. They quote nothing of the text, because it may contain
 * secrets. The position is reported separately.
 */
import type { ErrorCode } from 'yaml';

const INDENTATION =
  'this does not belong here; correct the indentation of this line or of the one before, or put quotes around the text';
const SECOND_COLON =
  'a name and its value within a value; correct the indentation, or put quotes around what has a colon in it';
const NOT_CLOSED = 'something before this is not closed; add the quote, the ], the } or the colon';
const ANCHOR = 'what begins with * or & stands for something else; put quotes around it';
const LONG_NAME = 'no colon where a name should end; add it, or put quotes around the text';

const SENTENCES: Readonly<Partial<Record<ErrorCode, string>>> = {
  BAD_INDENT: INDENTATION,
  UNEXPECTED_TOKEN: INDENTATION,
  BLOCK_AS_IMPLICIT_KEY: SECOND_COLON,
  MULTILINE_IMPLICIT_KEY: LONG_NAME,
  KEY_OVER_1024_CHARS: LONG_NAME,
  MISSING_CHAR: NOT_CLOSED,
  BLOCK_IN_FLOW: 'a block within [ ] or { }; write lists as [a, b] and mappings as {a: b} there',
  BAD_SCALAR_START: 'a value that begins with @, ` or %; put quotes around it',
  BAD_DQ_ESCAPE: 'a \\ that stands for nothing here; write \\\\, or use single quotes',
  TAB_AS_INDENT: 'a tab where the line begins; indent with spaces',
  DUPLICATE_KEY: 'the same name twice in one mapping; remove one',
  TAG_RESOLVE_FAILED: 'a tag that is not known; put quotes around what begins with !',
  BAD_COLLECTION_TYPE: 'a tag that is not known; put quotes around what begins with !',
  MULTIPLE_TAGS: 'two tags for one value; put quotes around what begins with !',
  MULTIPLE_ANCHORS: ANCHOR,
  BAD_ALIAS: ANCHOR,
  ALIAS_PROPS: ANCHOR,
  BAD_PROP_ORDER: ANCHOR,
  BAD_DIRECTIVE: 'a line that begins with % and is not known; remove it',
};

/** Returns the message for an error code of the parser. */
export function syntaxSentence(code: ErrorCode): string {
  return SENTENCES[code] ?? 'this is no YAML; write it anew';
}
