/**
 * Parses the text of a routes file, YAML or JSON: fast if the text is valid, with exact positions if it is not.
 *
 * Bun's parsers take 30 ms for 10,000 routes in YAML and 6 ms in JSON, but report no positions and accept duplicate
 * keys (the last one wins). The `yaml` package reports positions and duplicate keys, and takes a second. So it is used
 * only if the text is invalid, or has constructs that the two parsers may read differently, and it is imported only
 * then.
 */
import type { Document, LineCounter, YAMLMap } from 'yaml';
import type { Route } from './route.ts';
import {
  ROUTE_KEYS,
  RouteValueError,
  routeErrors,
  routesFrom,
  type KnownRoute,
  type ValuePath,
} from './route-values.ts';

/** Why a routes file is not used. `routes_syntax`: invalid YAML; `routes_invalid`: valid YAML with invalid values. */
type RoutesErrorCode = 'routes_unreadable' | 'routes_syntax' | 'routes_invalid';

/** A routes file that cannot be used. The message begins with the file, the line and the column. */
export class RoutesError extends Error {
  readonly code: RoutesErrorCode;
  readonly line: number | undefined;
  readonly column: number | undefined;

  constructor(
    code: RoutesErrorCode,
    message: string,
    file: string,
    position?: { readonly line: number; readonly col: number },
  ) {
    super(
      `${file}:${position === undefined ? '' : `${position.line}:${position.col}:`} ${message}`,
    );
    this.name = 'RoutesError';
    this.code = code;
    this.line = position?.line;
    this.column = position?.col;
  }
}

/**
 * Parses the routes in a text. `known` saves time, see {@link routesFrom}. @throws RoutesError with the position and a
 * hint.
 */
export async function parseRoutes(
  text: string,
  file: string,
  known?: KnownRoute,
): Promise<Route[]> {
  try {
    return fastRoutes(text, known) ?? (await exactRoutes(text, file));
  } catch (error) {
    // Both parsers recurse per level, so deep nesting overflows the stack.
    if (!(error instanceof RangeError)) throw error;
    const message = 'lists or mappings are nested too deeply; routes need four levels';
    throw new RoutesError('routes_invalid', message, file);
  }
}

/** Returns all errors of a text that {@link parseRoutes} refuses: at most one for each route. */
export async function findRoutesErrors(text: string, file: string): Promise<RoutesError[]> {
  try {
    await parseRoutes(text, file);
    return [];
  } catch (error) {
    if (!(error instanceof RoutesError)) throw error;
    if (error.code !== 'routes_invalid' || error.line === undefined) return [error];
    try {
      const { document, lines } = await exactDocument(text, file);
      return routeErrors(document.toJS()).map((fault) =>
        withPosition(fault, file, document, lines),
      );
    } catch {
      return [error]; // the document itself is invalid
    }
  }
}

/** Returns undefined if the exact parser has to read the text, for the routes or for the error. */
function fastRoutes(text: string, known: KnownRoute | undefined): Route[] | undefined {
  const value = fastValue(text);
  if (value === undefined) return undefined;
  try {
    return routesFrom(value, known);
  } catch (error) {
    if (error instanceof RouteValueError) return undefined;
    throw error;
  }
}

/** Returns undefined if the text is invalid, or if the exact parser might read it differently. */
function fastValue(text: string): unknown {
  if (EXACT_PARSER_ONLY.test(text)) return undefined;
  try {
    const value: unknown = text.trimStart().startsWith('{')
      ? JSON.parse(text)
      : Bun.YAML.parse(text);
    return keysIn(value) === keysInText(text) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // the exact parser reports the error and its position
    throw error;
  }
}

/**
 * Constructs that the fast path does not support: tags, anchors, aliases, merges, directives, several documents,
 * explicit keys, escapes. Without them every key appears literally in the text, and {@link keysInText} finds it.
 */
const EXACT_PARSER_ONLY = /[\\!&*%?]|<<|^(?:---|\.\.\.)/m;

const KEYS = Object.values(ROUTE_KEYS).flat();
const KEY = new RegExp(`(?:^|[\\s{,"'])(?:${KEYS.join('|')})["']?\\s*:`, 'g');
const COMMENT_LINES = /^[ \t]*#.*$/gm;

/**
 * Counts the occurrences of the known keys in the text. The count is at least the number of keys that the parser saw,
 * and higher if one mapping has the same key twice. A comment or value that looks like a key counts too, which only
 * costs time.
 */
function keysInText(text: string): number {
  const withoutComments = text.includes('#') ? text.replaceAll(COMMENT_LINES, '') : text;
  let count = 0;
  KEY.lastIndex = 0;
  while (KEY.test(withoutComments)) count++;
  return count;
}

/** Counts all keys in a value. */
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

/**
 * Parses the text with positions, to report the error. Returns the routes if the text is valid and only unsupported by
 * the fast path. */
async function exactRoutes(text: string, file: string): Promise<Route[]> {
  const { document, lines } = await exactDocument(text, file);
  try {
    return routesFrom(document.toJS());
  } catch (error) {
    if (error instanceof RouteValueError) throw withPosition(error, file, document, lines);
    throw error;
  }
}

/** Parses the text with positions. @throws RoutesError if it is not YAML, or YAML that routes cannot have. */
async function exactDocument(text: string, file: string) {
  const { isCollection, LineCounter, parseDocument, visit } = await import('yaml');
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem !== undefined) {
    const message =
      problem.code === 'MULTIPLE_DOCS'
        ? 'the file has a second document; put all routes into the first one'
        : `${problem.message}; fix the YAML syntax`;
    throw new RoutesError('routes_syntax', message, file, lines.linePos(problem.pos[0]));
  }
  if (document.contents === null) {
    const message = "the file is empty; write 'routes: []' if there are none";
    throw new RoutesError('routes_invalid', message, file, { line: 1, col: 1 });
  }
  visit(document, {
    Alias(_key, { source, range }) {
      const message = `'*${source}' is an alias; write out its value`;
      throw new RoutesError('routes_invalid', message, file, lines.linePos(range?.[0] ?? 0));
    },
    // The package prints a warning of Node.js when it converts such a key.
    Pair(_key, { key }) {
      if (!isCollection(key)) return;
      const message = 'a list or mapping cannot be a key; write a name as the key';
      throw new RoutesError('routes_invalid', message, file, lines.linePos(key.range?.[0] ?? 0));
    },
  });
  return { document, lines };
}

function withPosition(
  fault: RouteValueError,
  file: string,
  document: Document,
  lines: LineCounter,
): RoutesError {
  const place =
    (fault.isKey ? positionOfKey(fault.path, document, lines) : undefined) ??
    positionOf(fault.path, document, lines);
  const other = fault.otherPath && positionOf(fault.otherPath, document, lines);
  const message = other === undefined ? fault.message : `${fault.message} (see line ${other.line})`;
  return new RoutesError('routes_invalid', message, file, place);
}

/** Returns the position of a value. For a missing value it is the position of the nearest parent. */
function positionOf(path: ValuePath, document: Document, lines: LineCounter) {
  for (let length = path.length; length >= 0; length--) {
    const node: unknown = document.getIn(path.slice(0, length), true);
    const range = (node as { readonly range?: readonly [number, ...number[]] } | undefined)?.range;
    if (range !== undefined) return lines.linePos(range[0]);
  }
  return { line: 1, col: 1 };
}

/** The part of a YAML node that positions need. */
interface NodeWithRange {
  readonly value?: unknown;
  readonly range?: readonly [number, ...number[]] | null;
}

function positionOfKey(path: ValuePath, document: Document, lines: LineCounter) {
  const map = document.getIn(path.slice(0, -1), true) as YAMLMap<NodeWithRange> | undefined;
  const pair = map?.items.find(({ key }) => String(key.value) === path.at(-1));
  const range = pair?.key.range;
  return range === undefined || range === null ? undefined : lines.linePos(range[0]);
}
