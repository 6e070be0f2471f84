import { failedTests } from '../ci/failed-tests.ts';
import { sentence, tallyReport } from '../ci/tally.ts';

/** A test file with the duration of its tests. */
export interface FileTime {
  readonly file: string;
  readonly seconds: number;
}

/**
 * Returns the slowest test files of a JUnit report. The times in the report are not used, because they add up tests
 * that ran at the same time.
 * @param fileMs - Duration of each file.
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
    .toSorted((first, second) => second.seconds - first.seconds)
    .slice(0, count);
}

/** Adds a failure to a report for each file that has an error outside its tests. */
export function withFaultyFiles(xml: string, files: Iterable<string>): string {
  const suites = [...files].map(
    (file) =>
      `  <testsuite name="${file}" file="${file}"><testcase name="has no error outside its tests" file="${file}"><failure/></testcase></testsuite>\n`,
  );
  return xml.replace('</testsuites>', `${suites.join('')}</testsuites>`);
}

/** Durations of a run. */
export interface RunTimes {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly fileMs: Readonly<Record<string, number>>;
}

/** Returns the summary of a run: the failures, or the slowest files if there are none. */
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
