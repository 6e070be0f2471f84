/** The heading of a file in Bun's report. */
const HEADING = /^\S+\.test\.ts:$/;
const PASSED = /^\(pass\) /;
const SKIPPED = /^\((?:skip|todo)\) /;
const FAILED = /^\(fail\) /;
/** Bun's heading for an error that no test caught: mostly a file that does not load. */
const UNCAUGHT = /^# Unhandled error between tests/;
/** Bun's own version line and summary, for which there is {@link summaryText}. */
const FRAME =
  /^(?:bun test v.*|\s*\d+ (?:pass|fail|skip|todo|errors?|filtered out)|\s*(?:\d+ snapshots, )?\d+ expect\(\) calls|Ran \d+ tests across .*|\s*)$/;

/** Bun repeats at the end what failed and what was skipped. */
const REPEATED = /^\d+ tests? (?:failed|skipped|todo):$/;

/** Reads what `bun test` writes line by line: counts the tests, and keeps only what says more than that one passed. */
export class TestOutput {
  readonly #files = new Set<string>();
  #passed = 0;
  #failed = 0;
  #file = '';
  #heading: string | undefined;
  #isRepeating = false;
  /** Files with an error outside their tests, which Bun's report leaves out. */
  readonly faultyFiles = new Set<string>();

  /** The lines to show for a line that Bun wrote. */
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

  /** How far it is. */
  progress(totalFiles: number): string {
    const failed = this.#failed + this.faultyFiles.size;
    return `${this.#files.size} of ${totalFiles} files, ${this.#passed} passed, ${failed} failed`;
  }
}
