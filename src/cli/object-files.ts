/**
 * Kubernetes objects in files, as kubectl reads them, with the places where they are written: what is wrong is said with
 * file and line.
 */
import { isNode, LineCounter, parseAllDocuments, type Document } from 'yaml';
import { InvalidObjectError } from '../api/fault.ts';
import { parseEdgeStrictly, parseExposureStrictly } from '../api/objects.ts';
import { keyText, objectText, type KubeObject } from '../kube/object.ts';
import { RESOURCES } from '../kube/resource.ts';
import { versionsOf, WATCHED_RESOURCES } from '../providers/provider-resources.ts';

/** What was read. */
export interface ObjectFiles {
  readonly objects: readonly KubeObject[];
  /** What is wrong, each with its place: `edges.yaml:12:9: Edge shared: spec.port: ...`. */
  readonly faults: readonly string[];
}

/** A file with its content. */
export interface TextFile {
  readonly name: string;
  readonly text: string;
}

/** A part of a document that is an object, or should be one. */
interface Part {
  readonly file: string;
  readonly document: Document;
  readonly lines: LineCounter;
  /** Where it is in the document: nowhere special, or an item of a List. */
  readonly path: readonly (string | number)[];
  readonly value: unknown;
}

const NAMESPACED = new Map(
  [...Object.values(RESOURCES), ...WATCHED_RESOURCES.flatMap(versionsOf)].map(
    ({ apiVersion, kind, namespaced }) => [`${apiVersion} ${kind}`, namespaced],
  ),
);

/** The objects in files. Those that name no namespace, and need one, are in `namespace`. */
export function readObjects(files: readonly TextFile[], namespace: string): ObjectFiles {
  const objects = new Map<string, { readonly object: KubeObject; readonly place: string }>();
  const faults: string[] = [];
  for (const part of files.flatMap((file) => partsOf(file, faults))) {
    const object = objectIn(part.value, namespace);
    if (object === undefined) {
      faults.push(
        `${placeOf(part)}: no object of Kubernetes; write apiVersion, kind and metadata.name`,
      );
      continue;
    }
    const identity = `${object.apiVersion} ${objectText(object)}`;
    const twin = objects.get(identity);
    if (twin !== undefined) {
      faults.push(`${placeOf(part)}: ${objectText(object)} is at ${twin.place} too; remove one`);
      continue;
    }
    objects.set(identity, { object, place: placeOf(part) });
    faults.push(...faultsIn(object, part));
  }
  return { objects: [...objects.values()].map(({ object }) => object), faults };
}

function partsOf({ name: file, text }: TextFile, faults: string[]): readonly Part[] {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, {
    ...{ lineCounter: lines, prettyErrors: false, logLevel: 'silent', merge: true },
  });
  if (!Array.isArray(documents)) return []; // a file without any document
  return documents.flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) {
      faults.push(`${at(file, lines, error.pos[0])}: ${error.message}`);
      return [];
    }
    const value: unknown = document.toJS({ maxAliasCount: 100 });
    if (value === null) return [];
    const part = { file, document, lines, path: [], value };
    const items = itemsOf(value);
    return items === undefined
      ? [part]
      : items.map((item, index) => ({ ...part, path: ['items', index], value: item }));
  });
}

/** A List is as good as its items. */
function itemsOf(value: unknown): readonly unknown[] | undefined {
  const { kind, items } = value as { readonly kind?: unknown; readonly items?: unknown };
  return typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)
    ? items
    : undefined;
}

function objectIn(value: unknown, namespace: string): KubeObject | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { apiVersion, kind, metadata } = value as Partial<KubeObject>;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined;
  if (typeof metadata?.name !== 'string') return undefined;
  const object = { ...(kind === 'Secret' ? withData(value) : value), apiVersion, kind, metadata };
  const needsOne = NAMESPACED.get(`${apiVersion} ${kind}`) === true;
  return needsOne && metadata.namespace === undefined
    ? { ...object, metadata: { ...metadata, namespace } }
    : object;
}

/** An API server takes `stringData` too, and gives it back as `data`. */
function withData(secret: object): object {
  const { data, stringData, ...rest } = secret as {
    readonly data?: Readonly<Record<string, string>> | null;
    readonly stringData?: Readonly<Record<string, unknown>> | null;
  };
  const all: Record<string, string> = { ...data };
  for (const [name, text] of Object.entries(stringData ?? {})) {
    all[name] = Buffer.from(String(text)).toString('base64');
  }
  return { ...rest, data: all };
}

/** The sentences of the API server, with places. */
function faultsIn(object: KubeObject, part: Part): readonly string[] {
  const parse = { Edge: parseEdgeStrictly, Exposure: parseExposureStrictly }[object.kind];
  if (parse === undefined || !object.apiVersion.startsWith('snicket.dev/')) return [];
  try {
    parse(object);
    return [];
  } catch (error) {
    if (!(error instanceof InvalidObjectError)) throw error;
    return error.faults.map(({ path, sentence }) => {
      const what = path === '' ? sentence : `${path}: ${sentence}`;
      return `${placeOf(part, stepsOf(path))}: ${object.kind} ${keyText(object.metadata)}: ${what}`;
    });
  }
}

/** `spec.ports[0]["a.b"]` as the steps to it. */
function stepsOf(path: string): readonly (string | number)[] {
  return [...path.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]]+)/g)].map(
    ([, index, quoted, name = '']) => {
      if (index !== undefined) return Number(index);
      return quoted === undefined ? name : String(JSON.parse(quoted));
    },
  );
}

/** Where a field is written; of one that is not there, what it should be in. */
function placeOf(
  { file, document, lines, path }: Part,
  steps: readonly (string | number)[] = [],
): string {
  for (let depth = steps.length; depth >= 0; depth--) {
    const node = document.getIn([...path, ...steps.slice(0, depth)], true);
    if (isNode(node) && node.range) return at(file, lines, node.range[0]);
  }
  return file;
}

function at(file: string, lines: LineCounter, offset: number): string {
  const { line, col } = lines.linePos(offset);
  return `${file}:${line}:${col}`;
}
