/** Reads objects from YAML or JSON together with their positions, so that messages have file, line and column. */
import { isMap, isNode, isScalar, type Document, type LineCounter } from 'yaml';
import { UNBOUNDED, yamlDocuments, type DocumentFault, type TextBounds } from './yaml-documents.ts';

/** A file with its content. */
export interface TextFile {
  readonly name: string;
  readonly text: string;
}

/** A position in a file. Without a line it is the whole file. */
export interface SourceLocation {
  readonly file: string;
  /** Both count from 1. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/** A part of a document that is, or should be, an object. */
export interface ManifestPart {
  readonly file: string;
  readonly document: Document;
  readonly lines: LineCounter;
  /** Path in the document: empty, or that of an item of a List. */
  readonly path: readonly (string | number)[];
  readonly value: unknown;
}

/** A syntax error. */
interface SyntaxFault {
  readonly location: SourceLocation;
  readonly sentence: string;
}

/** Returns the objects of a text. Items of Lists are returned one by one. */
export function manifestParts(
  textFile: TextFile,
  bounds: TextBounds = UNBOUNDED,
): {
  readonly parts: readonly ManifestPart[];
  readonly faults: readonly SyntaxFault[];
} {
  const { name: file, text } = textFile;
  const { documents, lines, fault: textFault } = yamlDocuments(text, bounds);
  const faults: SyntaxFault[] = [];
  const report = ({ offset, sentence }: DocumentFault) =>
    faults.push({ location: locationAt(file, lines, offset), sentence });
  if (textFault !== undefined) report(textFault);
  const parts = documents.flatMap(({ document, fault }): readonly ManifestPart[] => {
    const read = fault ?? valueOf(document);
    if ('sentence' in read) {
      report(read);
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

/** Returns the value of a document. Errors of aliases and merges are only found here. */
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
    return `more than ${MAX_ALIASES} aliases: replace them with their values`;
  }
  if (message.startsWith('Merge sources')) {
    return 'merge key << without a mapping: use an alias of a mapping, or quote the key';
  }
  return message.startsWith('Unresolved alias')
    ? 'alias (*) without a preceding anchor (&): quote a value that begins with *'
    : 'unresolved alias or merge key: replace it with its value';
}

/** Returns the items of a List, or undefined for any other object. */
function itemsOf(value: unknown): readonly unknown[] | undefined {
  const { kind, items } = value as { readonly kind?: unknown; readonly items?: unknown };
  return typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)
    ? items
    : undefined;
}

/**
 * Returns the position of a field such as `spec.ports[0]["a.b"]`. For a missing field it is the position of the nearest
 * parent.
 */
export function locationOf(
  { file, document, lines, path }: ManifestPart,
  field = '',
): SourceLocation {
  const steps = stepsOf(field);
  for (let depth = steps.length; depth >= 0; depth--) {
    const node = document.getIn([...path, ...steps.slice(0, depth)], true);
    if (isNode(node) && node.range) return locationAt(file, lines, node.range[0]);
  }
  return { file };
}

/** Returns the position of a key in a mapping. */
export function locationOfKey(part: ManifestPart, mapping: string, name: string): SourceLocation {
  const { file, document, lines, path } = part;
  const node = document.getIn([...path, ...stepsOf(mapping)], true);
  const keys = isMap(node) ? node.items.map(({ key }) => key) : [];
  const found = keys.find((key) => isScalar(key) && key.value === name);
  if (isNode(found) && found.range) return locationAt(file, lines, found.range[0]);
  return locationOf(part, mapping);
}

/** Returns a position as messages begin with it: `edges.yaml:12:9`. */
export function locationText({ file, line, column }: SourceLocation): string {
  return line === undefined ? file : `${file}:${line}:${column ?? 1}`;
}

function locationAt(file: string, lines: LineCounter, offset: number): SourceLocation {
  const { line, col } = lines.linePos(offset);
  return { file, line, column: col };
}

/** Splits a path such as `spec.ports[0]["a.b"]` into its steps. */
function stepsOf(field: string): readonly (string | number)[] {
  return [...field.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]]+)/g)].map(
    ([, index, quoted, name = '']) => {
      if (index !== undefined) return Number(index);
      return quoted === undefined ? name : String(JSON.parse(quoted));
    },
  );
}
