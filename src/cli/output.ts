/**
 * How tools print: a table for people, JSON and YAML for programs.
 */
import { Option } from 'commander';
import { stringify } from 'yaml';

/** What `-o` takes. */
export const OUTPUTS = ['table', 'json', 'yaml'] as const;
/** One of {@link OUTPUTS}. */
export type Output = (typeof OUTPUTS)[number];

/** `-o, --output`, with a table by default. */
export function outputOption(): Option {
  return new Option('-o, --output <format>', 'how to print it').choices(OUTPUTS).default('table');
}

/** A value for programs. */
export function valueText(value: object, output: Exclude<Output, 'table'>): string {
  switch (output) {
    case 'json':
      return `${JSON.stringify(value, null, 2)}\n`;
    case 'yaml':
      return yamlText(value);
  }
}

/** YAML as kubectl reads it: without compat a string `yes` would be bare, and be read as a boolean. */
export function yamlText(value: object): string {
  return stringify(value, { compat: 'yaml-1.1', lineWidth: 0, aliasDuplicateObjects: false });
}

/** As terminals understand it. */
const COLOURS = { green: 32, yellow: 33, red: 31 } as const;
/** A colour of a cell. */
export type Colour = keyof typeof COLOURS;

/** A text in a table, or one with a colour. */
export type Cell = string | { readonly text: string; readonly colour: Colour };

/** Where a table is printed. */
export interface Screen {
  /** Absent: no terminal, and lines may be as long as they like. */
  readonly columns?: number | undefined;
  readonly hasColours: boolean;
}

/** Standard output as it is now. */
export function currentScreen(): Screen {
  const { isTTY, columns } = process.stdout;
  if (!isTTY) return { hasColours: false };
  // A terminal that does not know its size says 0.
  const known = columns > 0 ? columns : undefined;
  return { columns: known, hasColours: (process.env['NO_COLOR'] ?? '') === '' };
}

const GAP = '  ';

/**
 * Rows below their headings. A terminal that is too narrow for that gets a block of lines for each row, so that no line is
 * broken in the middle of a name.
 */
export function tableText(
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
  screen: Screen,
): string {
  const widths = headings.map((heading, at) =>
    Math.max(heading.length, ...rows.map((row) => textOf(row[at]).length)),
  );
  const total = widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1);
  if (screen.columns !== undefined && total > screen.columns) {
    return blocksText(headings, rows, screen);
  }
  const line = (cells: readonly Cell[]) =>
    cells
      .map((cell, at) => {
        const isLast = at === cells.length - 1;
        const padding = isLast ? 0 : (widths[at] ?? 0) - textOf(cell).length;
        return `${coloured(cell, screen)}${' '.repeat(padding)}`;
      })
      .join(GAP);
  return [headings, ...rows].map((cells) => `${line(cells)}\n`).join('');
}

function blocksText(
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
  screen: Screen,
): string {
  const width = Math.max(...headings.map(({ length }) => length));
  const blocks = rows.map((row) =>
    row
      .map((cell, at) => `${(headings[at] ?? '').padEnd(width)}${GAP}${coloured(cell, screen)}\n`)
      .join(''),
  );
  return blocks.join('\n');
}

function textOf(cell: Cell | undefined): string {
  return typeof cell === 'object' ? cell.text : (cell ?? '');
}

function coloured(cell: Cell, { hasColours }: Screen): string {
  if (typeof cell === 'string') return cell;
  return hasColours ? `\u001B[${COLOURS[cell.colour]}m${cell.text}\u001B[0m` : cell.text;
}
