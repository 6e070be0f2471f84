/**
 * What a demo claims, tried out: a row for people, and whether it is as claimed.
 */
import type { Cell, Colour } from '../src/cli/output/output.ts';

/** A row of a table, and whether things are as they should be. */
export interface Finding {
  readonly cells: readonly Cell[];
  readonly isAsClaimed: boolean;
}

/** The rows of a table. */
export function rowsOf(findings: readonly Finding[]): readonly (readonly Cell[])[] {
  return findings.map(({ cells }) => cells);
}

/** By what their rows begin with. */
export function inOrder(findings: readonly Finding[]): readonly Finding[] {
  const textOfRow = ({ cells }: Finding) => cells.map(textOf).join(' ');
  return findings.toSorted((one, other) => (textOfRow(one) < textOfRow(other) ? -1 : 1));
}

/** A sentence for each that is not as claimed. */
export function faultsOf(findings: readonly Finding[]): readonly string[] {
  return findings
    .filter(({ isAsClaimed }) => !isAsClaimed)
    .map(({ cells }) => `not as it should be: ${cells.map(textOf).join(', ')}`);
}

/** Who got a tenant, and who did not. */
export function coloured(text: string, isReached: boolean): Cell {
  return { text, colour: (isReached ? 'green' : 'red') satisfies Colour };
}

function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text;
}
