import { failedTests } from '../ci/failed-tests.ts';
import { sentence, tallyReport } from '../ci/tally.ts';

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

/** The report with a failure for each file that has an error outside its tests. */
export function withFaultyFiles(xml: string, files: Iterable<string>): string {
  const suites = [...files].map(
    (file) =>
      `  <testsuite name="${file}" file="${file}"><testcase name="has no error outside its tests" file="${file}"><failure/></testcase></testsuite>\n`,
  );
  return xml.replace('</testsuites>', `${suites.join('')}</testsuites>`);
}

/** The end of a run for people: what failed, or else which files took longest. */
export function summaryText(
  xml: string,
  { seconds, cpuSeconds }: { readonly seconds: number; readonly cpuSeconds: number },
): string {
  const failed = failedTests(xml);
  const lines =
    failed.length > 0
      ? ['Failed:', ...failed.map((test) => `  ${test}`)]
      : ['Slowest files:', ...slowestFiles(xml).map(fileLine)];
  const count = `${sentence(tallyReport(xml))} in ${seconds} s (CPU ${cpuSeconds} s)`;
  return ['', ...lines, count].join('\n');
}

function fileLine({ file, seconds }: FileTime): string {
  return `${seconds.toFixed(1).padStart(8)} s  ${file}`;
}
