/** Matches the heading of a file in Bun's report. */
const HEADING = /^\S+\.test\.ts:$/;
const PASSED = /^\(pass\) /;
const SKIPPED = /^\((?:skip|todo)\) /;
const FAILED = /^\(fail\) /;
/** Matches Bun's heading for an error outside any test, usually of a file that does not load. */
const UNCAUGHT = /^# Unhandled error between tests/;
/** Matches Bun's version line and summary. {@link summaryText} replaces them. */
const FRAME =
  /^(?:bun test v.*|\s*\d+ (?:pass|fail|skip|todo|errors?|filtered out)|\s*(?:\d+ snapshots, )?\d+ expect\(\) calls|Ran \d+ tests across .*|\s*)$/;

/** Matches the heading above the failures and skipped tests that Bun repeats at the end. */
const REPEATED = /^\d+ tests? (?:failed|skipped|todo):$/;

/** Parses the output of `bun test` line by line. Counts the tests, and drops the lines of passed tests. */
export class TestOutput {
  readonly #files = new Set<string>();
  #passed = 0;
  #failed = 0;
  #file = '';
  #heading: string | undefined;
  #isRepeating = false;
  /** Files with an error outside their tests. Bun's report omits them. */
  readonly faultyFiles = new Set<string>();

  /** Returns the lines to show for a line of Bun's output. */
  take(line: string): readonly string[] {
    this.#isRepeating ||= REPEATED.test(line);
    if (this.#isRepeating) return [];
    if (HEADING.test(line)) {
      this.#file = line.slice(0, -1);
      this.#files.add(line);
      this.#heading = line;
      return [];
    }
    if (PASSED.test(line)) {
      this.#passed++;
      return [];
    }
    if (SKIPPED.test(line) || FRAME.test(line)) return [];
    if (FAILED.test(line)) this.#failed++;
    if (UNCAUGHT.test(line)) this.faultyFiles.add(this.#file);
    const heading = this.#heading;
    this.#heading = undefined;
    return heading === undefined ? [line] : ['', heading, line];
  }

  /** Formats the progress of the run. */
  progress(totalFiles: number): string {
    const failed = this.#failed + this.faultyFiles.size;
    return `${this.#files.size} of ${totalFiles} files, ${this.#passed} passed, ${failed} failed`;
  }
}
