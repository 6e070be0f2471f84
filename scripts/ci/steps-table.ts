/** A step of a CI run, or a part of one. */
export interface StepRow {
  readonly name: string;
  /** Wall time; undefined if the step did not run. */
  readonly seconds?: number | undefined;
  /** CPU time including child processes; undefined if it was not measured. */
  readonly cpuSeconds?: number | undefined;
  readonly result: string;
}

const HEADINGS = ['STEP', 'TIME', 'CPU', 'RESULT'] as const;

/** Returns the durations of a run, with a line for each step. */
export function stepsTable(steps: readonly StepRow[]): string {
  const rows = steps.map(({ name, seconds, cpuSeconds, result }) => [
    name,
    secondsText(seconds),
    secondsText(cpuSeconds),
    result,
  ]);
  return alignedText([HEADINGS, ...rows], new Set([1, 2]));
}

/** Aligns rows in columns. Aligns the columns in `numbers` to the right. */
export function alignedText(
  rows: readonly (readonly string[])[],
  numbers: ReadonlySet<number>,
): string {
  const widthOf = (at: number) => Math.max(...rows.map((row) => row[at]?.length ?? 0));
  const aligned = (row: readonly string[]) =>
    row.map((cell, at) => {
      if (at === row.length - 1) return cell;
      return numbers.has(at) ? cell.padStart(widthOf(at)) : cell.padEnd(widthOf(at));
    });
  return rows.map((row) => `${aligned(row).join('  ')}\n`).join('');
}

function secondsText(seconds: number | undefined): string {
  return seconds === undefined ? '-' : `${seconds} s`;
}
