import { failedTests } from '../ci/failed-tests.ts';
import { sentence, tallyReport } from '../ci/tally.ts';

/** A test file, and how long its tests took. */
export interface FileTime {
  readonly file: string;
  readonly seconds: number;
}

/**
 * The test files of a JUnit report that took longest. The report has no such time: its sums count tests that ran at the same
 * time one after the other.
 * @param fileMs - How long each file took.
 */
export function slowestFiles(
  xml: string,
  fileMs: Readonly<Record<string, number>>,
  count = 8,
): readonly FileTime[] {
  const files = new Set(
    [...xml.matchAll(/<testsuite [^>]*\bfile="([^"]*)"/g)].map(([, file = '']) => file),
  );
  return [...files]
    .map((file) => ({ file, seconds: (fileMs[file] ?? 0) / 1000 }))
    .toSorted((one, other) => other.seconds - one.seconds)
    .slice(0, count);
}

/** The report with a failure for each file that has an error outside its tests. */
export function withFaultyFiles(xml: string, files: Iterable<string>): string {
  const suites = [...files].map(
    (file) =>
      `  <testsuite name="${file}" file="${file}"><testcase name="has no error outside its tests" file="${file}"><failure/></testcase></testsuite>\n`,
  );
  return xml.replace('</testsuites>', `${suites.join('')}</testsuites>`);
}

/** How long a run took. */
export interface RunTimes {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly fileMs: Readonly<Record<string, number>>;
}

/** The end of a run for people: what failed, or else which files took longest. */
export function summaryText(xml: string, { seconds, cpuSeconds, fileMs }: RunTimes): string {
  const failed = failedTests(xml);
  const lines =
    failed.length > 0
      ? ['Failed:', ...failed.map((test) => `  ${test}`)]
      : ['Slowest files:', ...slowestFiles(xml, fileMs).map(fileLine)];
  const count = `${sentence(tallyReport(xml))} in ${seconds} s (CPU ${cpuSeconds} s)`;
  return ['', ...lines, count].join('\n');
}

function fileLine({ file, seconds }: FileTime): string {
  return `${seconds.toFixed(1).padStart(8)} s  ${file}`;
}
