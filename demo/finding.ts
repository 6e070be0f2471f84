/** The result of checking a claim of the demo, as a table row. */
import type { Cell, Color } from '../src/cli/output/output.ts';

/** A table row, with the result of its check. */
export interface Finding {
  readonly cells: readonly Cell[];
  readonly isExpected: boolean;
}

/** Returns the table rows of findings. */
export function rowsOf(findings: readonly Finding[]): readonly (readonly Cell[])[] {
  return findings.map(({ cells }) => cells);
}

/** Sorts findings by the text of their rows. */
export function inOrder(findings: readonly Finding[]): readonly Finding[] {
  const textOfRow = ({ cells }: Finding) => cells.map(textOf).join(' ');
  return findings.toSorted((first, second) => (textOfRow(first) < textOfRow(second) ? -1 : 1));
}

/** Returns a sentence for each unexpected finding. */
export function failuresOf(findings: readonly Finding[]): readonly string[] {
  return findings
    .filter(({ isExpected }) => !isExpected)
    .map(({ cells }) => `unexpected result: ${cells.map(textOf).join(', ')}`);
}

/** Colors a cell: green if the tenant was reached, red if not. */
export function colored(text: string, isReached: boolean): Cell {
  return { text, color: (isReached ? 'green' : 'red') satisfies Color };
}

function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text;
}
