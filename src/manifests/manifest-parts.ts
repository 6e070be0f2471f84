/**
 * Objects in texts of YAML or JSON, with the places where they are written: what is wrong with one is said with file,
 * line and column.
 */
import { isMap, isNode, isScalar, type Document, type LineCounter } from 'yaml';
import { UNBOUNDED, yamlDocuments, type DocumentFault, type TextBounds } from './yaml-documents.ts';

/** A file with its content. */
export interface TextFile {
  readonly name: string;
  readonly text: string;
}

/** Where something is written; without a line it is the file as a whole. */
export interface Place {
  readonly file: string;
  /** From 1 on. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/** A part of a document that is an object, or should be one. */
export interface ManifestPart {
  readonly file: string;
  readonly document: Document;
  readonly lines: LineCounter;
  /** Where it is in the document: nowhere special, or an item of a List. */
  readonly path: readonly (string | number)[];
  readonly value: unknown;
}

/** What cannot be read at all. */
export interface SyntaxFault {
  readonly place: Place;
  readonly sentence: string;
}

/** The parts of a text, those of Lists one by one. */
export function manifestParts(
  textFile: TextFile,
  bounds: TextBounds = UNBOUNDED,
): {
  readonly parts: readonly ManifestPart[];
  readonly faults: readonly SyntaxFault[];
} {
  const { name: file, text } = textFile;
  const { documents, lines, fault: whole } = yamlDocuments(text, bounds);
  const faults: SyntaxFault[] = [];
  const tell = ({ offset, sentence }: DocumentFault) =>
    faults.push({ place: placeAt(file, lines, offset), sentence });
  if (whole !== undefined) tell(whole);
  const parts = documents.flatMap(({ document, fault }): readonly ManifestPart[] => {
    const read = fault ?? valueOf(document);
    if ('sentence' in read) {
      tell(read);
      return [];
    }
    const { value } = read;
    if (value === null) return [];
    const part = { file, document, lines, path: [], value };
    const items = itemsOf(value);
    return items === undefined
      ? [part]
      : items.map((item, index) => ({ ...part, path: ['items', index], value: item }));
  });
  return { parts, faults };
}

const MAX_ALIASES = 100;

/** What aliases and merges come to is known only now. */
function valueOf(document: Document): { readonly value: unknown } | DocumentFault {
  try {
    return { value: document.toJS({ maxAliasCount: MAX_ALIASES }) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { offset: document.range?.[0] ?? 0, sentence: aliasSentence(error.message) };
  }
}

function aliasSentence(message: string): string {
  if (message.startsWith('Excessive alias count')) {
    return `more than ${MAX_ALIASES} aliases; write out what they stand for`;
  }
  if (message.startsWith('Merge sources')) {
    return '<< with what is no mapping; give it an alias (*) of one, or put quotes around it';
  }
  return message.startsWith('Unresolved alias')
    ? 'an alias (*) of what has no name (&) before it; put quotes around what begins with *'
    : 'aliases or merges that come to nothing; write out what they stand for';
}

/** A List is as good as its items. */
function itemsOf(value: unknown): readonly unknown[] | undefined {
  const { kind, items } = value as { readonly kind?: unknown; readonly items?: unknown };
  return typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)
    ? items
    : undefined;
}

/** Where a field of a part is written, as `spec.ports[0]["a.b"]`; of one that is not there, what it should be in. */
export function placeOf({ file, document, lines, path }: ManifestPart, field = ''): Place {
  const steps = stepsOf(field);
  for (let depth = steps.length; depth >= 0; depth--) {
    const node = document.getIn([...path, ...steps.slice(0, depth)], true);
    if (isNode(node) && node.range) return placeAt(file, lines, node.range[0]);
  }
  return { file };
}

/** Where the name of a field is written, in the mapping that is another. */
export function placeOfName(part: ManifestPart, mapping: string, name: string): Place {
  const { file, document, lines, path } = part;
  const node = document.getIn([...path, ...stepsOf(mapping)], true);
  const keys = isMap(node) ? node.items.map(({ key }) => key) : [];
  const found = keys.find((key) => isScalar(key) && key.value === name);
  if (isNode(found) && found.range) return placeAt(file, lines, found.range[0]);
  return placeOf(part, mapping);
}

/** As messages begin: `edges.yaml:12:9`. */
export function placeText({ file, line, column }: Place): string {
  return line === undefined ? file : `${file}:${line}:${column ?? 1}`;
}

function placeAt(file: string, lines: LineCounter, offset: number): Place {
  const { line, col } = lines.linePos(offset);
  return { file, line, column: col };
}

/** `spec.ports[0]["a.b"]` as the steps to it. */
function stepsOf(field: string): readonly (string | number)[] {
  return [...field.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]]+)/g)].map(
    ([, index, quoted, name = '']) => {
      if (index !== undefined) return Number(index);
      return quoted === undefined ? name : String(JSON.parse(quoted));
    },
  );
}
