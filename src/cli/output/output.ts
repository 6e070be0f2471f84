/**
 * The output formats of commands: a table, JSON and YAML.
 */
import { Option } from 'commander';
import type { CommandIo } from '../io/command-io.ts';
import { yamlText } from '../../manifests/yaml-text.ts';
import { wrapWords } from '../../text/wrap.ts';
import { escapedJson, plainText } from '../../text/plain-text.ts';

/** The values of `-o`. */
export const OUTPUTS = ['table', 'json', 'yaml'] as const;
/** One of {@link OUTPUTS}. */
export type Output = (typeof OUTPUTS)[number];

/** Returns the option `-o, --output`, with a table by default. `more` are formats that not every command has. */
export function outputOption(more: readonly string[] = []): Option {
  return new Option('-o, --output <format>', 'output format')
    .choices([...OUTPUTS.slice(0, 1), ...more, ...OUTPUTS.slice(1)])
    .default('table');
}

/** Returns objects as kubectl prints them with `-o name`. */
export function nameText(kind: 'edge' | 'exposure', name: string): string {
  return `${kind}.snicket.dev/${name}\n`;
}

/** Returns a value as JSON or YAML. */
export function valueText(value: object, output: Exclude<Output, 'table'>): string {
  switch (output) {
    case 'json':
      return `${escapedJson(JSON.stringify(value, null, 2))}\n`;
    case 'yaml':
      return yamlText(value);
  }
}

/** ANSI color codes. */
const COLORS = { green: 32, yellow: 33, red: 31 } as const;
/** The color of a cell. */
export type Color = keyof typeof COLORS;

/** A text in a table, with or without a color. */
export type Cell =
  | string
  | {
      readonly text: string;
      readonly color?: Color | undefined;
      /** Shown before the text where colors are. */
      readonly mark?: string | undefined;
    };

const STATES = {
  pass: { mark: '✓', color: 'green' },
  warn: { mark: '!', color: 'yellow' },
  fail: { mark: '✗', color: 'red' },
  skip: { mark: '-', color: undefined },
} as const;
/** What a state means for the user. */
export type StateKind = keyof typeof STATES;

/** Returns the cell for a state: with its mark and its color on a terminal, and the text alone elsewhere. */
export function stateCell(text: string, kind: StateKind): Cell {
  return { text, ...STATES[kind] };
}

/** The screen on which a table is printed. */
export interface Screen {
  /** Absent: not a terminal, and lines are not wrapped. */
  readonly columns?: number | undefined;
  readonly hasColors: boolean;
}

/** Returns the current size and colors of standard output. */
export function currentScreen({ stdout, env }: Pick<CommandIo, 'stdout' | 'env'>): Screen {
  const { isTTY, columns = 0 } = stdout;
  if (!isTTY) return { hasColors: false };
  // A terminal of unknown size reports 0.
  const known = columns > 0 ? columns : undefined;
  return { columns: known, hasColors: isColorWanted(env) };
}

/** Reports whether the user wants colors on a terminal. */
export function isColorWanted(env: CommandIo['env']): boolean {
  const { NO_COLOR = '', TERM } = env;
  return NO_COLOR === '' && TERM !== 'dumb';
}

const GAP = '  ';
/** Minimum width of a wrapped column. If it is narrower, a block of lines reads better. */
const MIN_WRAPPED_WIDTH = 24;

/**
 * Returns a table. If the terminal is too narrow for it, the last column is wrapped. If that is not enough, each row
 * becomes a block of lines. Words are never broken, so that users can copy names.
 */
export function tableText(
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
  screen: Screen,
): string {
  const last = headings.length - 1;
  const widths = headings.map((heading, at) =>
    Math.max(...[heading, ...rows.map((row) => textOf(row[at], screen))].map(widthOf)),
  );
  const before = widths.slice(0, last).reduce((sum, width) => sum + width + GAP.length, 0);
  const room = (screen.columns ?? Infinity) - before;
  const wanted = widths[last] ?? 0;
  if (wanted > room) {
    const words = [
      headings[last] ?? '',
      ...rows.flatMap((row) => wordsOf(textOf(row[last], screen))),
    ];
    const least = Math.max(MIN_WRAPPED_WIDTH, ...words.map(widthOf));
    if (room < least) return blocksText(headings, rows, screen);
  }
  const line = (cells: readonly Cell[]) => {
    const head = cells
      .slice(0, last)
      .map((cell, at) => padded(cell, widths[at] ?? 0, screen) + GAP)
      .join('');
    return head + wrapped(cells[last] ?? '', room, before, screen);
  };
  return [headings, ...rows].map((cells) => `${line(cells)}\n`).join('');
}

/**
 * Returns a table without as many columns of `spare`, in their order, as makes it fit. If none of that helps, the table
 * has all columns.
 */
export function fittingTableText(
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
  screen: Screen,
  spare: readonly string[],
): string {
  const { columns = Infinity } = screen;
  for (let count = 0; count <= spare.length; count++) {
    const left = new Set(spare.slice(0, count));
    const kept = (_: unknown, at: number) => !left.has(headings[at] ?? '');
    const fewer = rows.map((row) => row.filter(kept));
    const text = Bun.stripANSI(
      tableText(headings.filter(kept), fewer, { ...screen, columns: undefined }),
    );
    const isFitting = text.split('\n').every((line) => widthOf(line) <= columns);
    if (isFitting) return tableText(headings.filter(kept), fewer, screen);
  }
  return tableText(headings, rows, screen);
}

/** Returns a text wrapped for a screen. All lines after the first are indented. */
export function wrappedText(cell: Cell, indent: number, screen: Screen): string {
  return wrapped(cell, (screen.columns ?? Infinity) - indent, indent, screen);
}

function blocksText(
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
  screen: Screen,
): string {
  const width = Math.max(...headings.map(widthOf));
  const indent = width + GAP.length;
  const blocks = rows.map((row) =>
    row
      .map((cell, at) => {
        const heading = padded(headings[at] ?? '', width, screen);
        return `${heading}${GAP}${wrappedText(cell, indent, screen)}\n`;
      })
      .join(''),
  );
  return blocks.join('\n');
}

function wrapped(cell: Cell, width: number, indent: number, screen: Screen): string {
  const text = textOf(cell, screen);
  const lines = widthOf(text) <= width ? [text] : wrapWords(wordsOf(text), width);
  return lines.map((line) => colored(cell, line, screen)).join(`\n${' '.repeat(indent)}`);
}

function wordsOf(text: string): readonly string[] {
  return text.split(' ').filter((word) => word !== '');
}

function padded(cell: Cell, width: number, screen: Screen): string {
  const text = textOf(cell, screen);
  return colored(cell, text, screen) + ' '.repeat(Math.max(0, width - widthOf(text)));
}

function widthOf(text: string): number {
  return Bun.stringWidth(text);
}

/** Returns the text of a cell. Messages quote other programs, whose escape codes must not reach the terminal. */
function textOf(cell: Cell | undefined, { hasColors }: Screen): string {
  if (typeof cell !== 'object') return plainText(cell ?? '');
  const text = plainText(cell.text);
  return cell.mark === undefined || !hasColors ? text : `${cell.mark} ${text}`;
}

function colored(cell: Cell, text: string, { hasColors }: Screen): string {
  if (typeof cell === 'string' || cell.color === undefined || !hasColors) return text;
  return `\u001B[${COLORS[cell.color]}m${text}\u001B[0m`;
}
