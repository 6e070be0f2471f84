/**
 * Reads the text of a routes file, YAML or JSON: fast if it is right, exact if it is not.
 *
 * Bun's parsers take 30 ms for 10,000 routes in YAML and 6 ms in JSON, but know no positions and let the last of two
 * equal keys win. The `yaml` package knows both, and takes a second. So it is asked only when something is wrong, or
 * when the text has what the two read in different ways; it is loaded only then.
 */
import type { Document, LineCounter, YAMLMap } from 'yaml';
import type { Route } from './route.ts';
import {
  ROUTE_KEYS,
  RouteFault,
  routesFrom,
  type KnownRoute,
  type ValuePath,
} from './route-values.ts';

/** Why a routes file is not used. `routes_syntax`: no YAML; `routes_invalid`: YAML that says the wrong things. */
export type RoutesErrorCode = 'routes_unreadable' | 'routes_syntax' | 'routes_invalid';

/** A routes file that cannot be used. The message begins with file, line and column. */
export class RoutesError extends Error {
  readonly code: RoutesErrorCode;
  readonly line: number | undefined;
  readonly column: number | undefined;

  constructor(
    code: RoutesErrorCode,
    sentence: string,
    file: string,
    place?: { readonly line: number; readonly col: number },
  ) {
    super(`${file}:${place === undefined ? '' : `${place.line}:${place.col}:`} ${sentence}`);
    this.name = 'RoutesError';
    this.code = code;
    this.line = place?.line;
    this.column = place?.col;
  }
}

/** The routes in a text; `known` saves time, see {@link routesFrom}. @throws RoutesError with the place and what to do. */
export async function parseRoutes(
  text: string,
  file: string,
  known?: KnownRoute,
): Promise<Route[]> {
  try {
    return fastRoutes(text, known) ?? (await exactRoutes(text, file));
  } catch (error) {
    // Both parsers call themselves for each level; a thousand brackets are no routes file.
    if (!(error instanceof RangeError)) throw error;
    const sentence = 'lists or mappings are nested too deeply; a route needs four levels';
    throw new RoutesError('routes_invalid', sentence, file);
  }
}

/** Nothing if the exact parser has to be asked: for the routes, or for what is wrong with them. */
function fastRoutes(text: string, known: KnownRoute | undefined): Route[] | undefined {
  const value = fastValue(text);
  if (value === undefined) return undefined;
  try {
    return routesFrom(value, known);
  } catch (error) {
    if (error instanceof RouteFault) return undefined;
    throw error;
  }
}

/** Nothing if the text is wrong, or might be read in another way by the exact parser. */
function fastValue(text: string): unknown {
  if (PECULIAR.test(text)) return undefined;
  try {
    const value: unknown = text.trimStart().startsWith('{')
      ? JSON.parse(text)
      : Bun.YAML.parse(text);
    return keysIn(value) === keysInText(text) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // the exact parser says what is wrong, and where
    throw error;
  }
}

/**
 * What a plain routes file never has: tags, anchors, aliases, merges, directives, several documents, explicit keys,
 * escapes. With none of them a key stands in the text as it is, and {@link keysInText} sees it.
 */
const PECULIAR = /[\\!&*%?]|<<|^(?:---|\.\.\.)/m;

const KEYS = Object.values(ROUTE_KEYS).flat();
const KEY = new RegExp(`(?:^|[\\s{,"'])(?:${KEYS.join('|')})["']?\\s*:`, 'g');
const COMMENT_LINES = /^[ \t]*#.*$/gm;

/**
 * How often one of our keys stands in the text. That is at least as often as the parser saw one, and more often if it
 * saw the same key twice in one mapping. A comment or a value that looks like a key also counts, which only costs time.
 */
function keysInText(text: string): number {
  const bare = text.includes('#') ? text.replaceAll(COMMENT_LINES, '') : text;
  let count = 0;
  KEY.lastIndex = 0;
  while (KEY.test(bare)) count++;
  return count;
}

/** How many keys there are in a value, whatever they are called. */
function keysIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) {
    let sum = 0;
    for (const item of value as unknown[]) sum += typeof item === 'object' ? keysIn(item) : 0;
    return sum;
  }
  let count = 0;
  for (const key in value) count += 1 + keysIn((value as Record<string, unknown>)[key]);
  return count;
}

/** Reads once more, slowly, for the place of the fault; or for the routes, if the fast way was just not sure. */
async function exactRoutes(text: string, file: string): Promise<Route[]> {
  const { LineCounter, parseDocument, visit } = await import('yaml');
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const wrong = document.errors[0] ?? document.warnings[0];
  if (wrong !== undefined) {
    const sentence =
      wrong.code === 'MULTIPLE_DOCS'
        ? 'a second document begins; put all routes into the first one'
        : `${wrong.message}; correct the YAML there`;
    throw new RoutesError('routes_syntax', sentence, file, lines.linePos(wrong.pos[0]));
  }
  if (document.contents === null) {
    const sentence = "the file is empty; write 'routes: []' if there are none";
    throw new RoutesError('routes_invalid', sentence, file, { line: 1, col: 1 });
  }
  visit(document, {
    Alias(_key, { source, range }) {
      const sentence = `'*${source}' is an alias; write out what it stands for`;
      throw new RoutesError('routes_invalid', sentence, file, lines.linePos(range?.[0] ?? 0));
    },
  });
  try {
    return routesFrom(document.toJS());
  } catch (error) {
    if (error instanceof RouteFault) throw positioned(error, file, document, lines);
    throw error;
  }
}

function positioned(
  fault: RouteFault,
  file: string,
  document: Document,
  lines: LineCounter,
): RoutesError {
  const place =
    (fault.isKey ? placeOfKey(fault.path, document, lines) : undefined) ??
    placeOf(fault.path, document, lines);
  const other = fault.otherPath && placeOf(fault.otherPath, document, lines);
  const sentence =
    other === undefined ? fault.message : `${fault.message} (see line ${other.line})`;
  return new RoutesError('routes_invalid', sentence, file, place);
}

/** Where the value stands; for an empty one, where what it belongs to stands. */
function placeOf(path: ValuePath, document: Document, lines: LineCounter) {
  for (let length = path.length; length >= 0; length--) {
    const node: unknown = document.getIn(path.slice(0, length), true);
    const range = (node as { readonly range?: readonly [number, ...number[]] } | undefined)?.range;
    if (range !== undefined) return lines.linePos(range[0]);
  }
  return { line: 1, col: 1 };
}

/** A node as far as it matters here. */
interface Placed {
  readonly value?: unknown;
  readonly range?: readonly [number, ...number[]] | null;
}

function placeOfKey(path: ValuePath, document: Document, lines: LineCounter) {
  const map = document.getIn(path.slice(0, -1), true) as YAMLMap<Placed> | undefined;
  const pair = map?.items.find(({ key }) => String(key.value) === path.at(-1));
  const range = pair?.key.range;
  return range === undefined || range === null ? undefined : lines.linePos(range[0]);
}
