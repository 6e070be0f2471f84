/** The heading of a file in Bun's report. */
const HEADING = /^\S+\.test\.ts:$/;
const PASSED = /^\(pass\) /;
const SKIPPED = /^\((?:skip|todo)\) /;
const FAILED = /^\(fail\) /;
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
  #heading: string | undefined;
  #isRepeating = false;

  /** The lines to show for a line that Bun wrote. */
  take(line: string): readonly string[] {
    this.#isRepeating ||= REPEATED.test(line);
    if (this.#isRepeating) return [];
    if (HEADING.test(line)) {
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
    const heading = this.#heading;
    this.#heading = undefined;
    return heading === undefined ? [line] : ['', heading, line];
  }

  /** How far it is. */
  progress(): string {
    return `${this.#passed} passed, ${this.#failed} failed in ${this.#files.size} files so far`;
  }
}
