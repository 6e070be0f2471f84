/** A step of a CI run, or a part of one. */
export interface StepRow {
  readonly name: string;
  /** Wall time; undefined if it did not run. */
  readonly seconds?: number | undefined;
  /** Processor time with all that it started; undefined where it was not measured. */
  readonly cpuSeconds?: number | undefined;
  readonly result: string;
}

const HEADINGS = ['STEP', 'TIME', 'CPU', 'RESULT'] as const;

/** The durations of a run, a line for each step. */
export function stepsTable(steps: readonly StepRow[]): string {
  const rows = steps.map(({ name, seconds, cpuSeconds, result }) => [
    name,
    secondsText(seconds),
    secondsText(cpuSeconds),
    result,
  ]);
  const all = [[...HEADINGS], ...rows];
  const widths = HEADINGS.map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row.map((cell, at) => {
      if (at === row.length - 1) return cell;
      const isNumber = at === 1 || at === 2;
      return isNumber ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0);
    });
  return all.map((row) => `${line(row).join('  ')}\n`).join('');
}

function secondsText(seconds: number | undefined): string {
  return seconds === undefined ? '-' : `${seconds} s`;
}
