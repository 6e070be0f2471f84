import { sentence, type Tally } from '../ci/tally.ts';

/** A test file, and how long its tests took. */
export interface FileTime {
  readonly file: string;
  readonly seconds: number;
}

/** The test files of a JUnit report that took longest. */
export function slowestFiles(xml: string, count = 8): readonly FileTime[] {
  const files = [...xml.matchAll(/<testsuite name="[^"]*" file="([^"]*)"[^>]* time="([\d.]+)"/g)]
    .map(([, file = '', seconds = '']) => ({ file, seconds: Number(seconds) }))
    .toSorted((one, other) => other.seconds - one.seconds);
  // Groups of tests are suites too, within that of their file: the file's own is the longest.
  return files
    .filter(({ file }, at) => files.findIndex((one) => one.file === file) === at)
    .slice(0, count);
}

/** The end of a run for people. */
export function summaryText(
  tally: Tally,
  { seconds, cpuSeconds }: { readonly seconds: number; readonly cpuSeconds: number },
  slowest: readonly FileTime[],
): string {
  const lines = slowest.map(
    ({ file, seconds: took }) => `${took.toFixed(1).padStart(8)} s  ${file}`,
  );
  return [
    'Slowest files:',
    ...lines,
    `${sentence(tally)} in ${seconds} s (CPU ${cpuSeconds} s)`,
  ].join('\n');
}
