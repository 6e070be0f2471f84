/** Counts the tests of a CI run from the JUnit reports of its steps. */

/** Test cases by outcome. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** One command of the run. */
export interface Step {
  readonly exitCode: number;
  /** The step's JUnit report; `missing` if it should have written one and did not, `none` if it writes none. */
  readonly report: { readonly xml: string } | 'missing' | 'none';
}

/** Matches a start or end tag. Attribute values are matched whole, because `>` is legal inside them. */
const TAG = /<(\/?)([\w:.-]+)(?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*\s*(\/?)>/g;

/** Matches parts of XML whose text may look like a tag. */
const OPAQUE = /<!\[CDATA\[[\s\S]*?\]\]>|<!--[\s\S]*?-->/g;

/**
 * Counts the test cases. It ignores the totals in the attributes, because in some reports `failures` contains `errors`.
 * A failure outside any case (a suite's setup) counts as one.
 */
export function tallyReport(xml: string): Tally {
  const tally = { passed: 0, failed: 0, skipped: 0 };
  let insideCase = false;
  let outcome: keyof Tally = 'passed';

  for (const [, slash, name, selfClosing] of xml.replace(OPAQUE, '').matchAll(TAG)) {
    const opens = slash === '';
    const closes = slash === '/' || selfClosing === '/';
    if (name === 'testcase') {
      if (opens) outcome = 'passed';
      if (closes) tally[outcome] += 1;
      insideCase = !closes;
    } else if (opens && (name === 'failure' || name === 'error')) {
      if (insideCase) outcome = 'failed';
      else tally.failed += 1;
    } else if (opens && name === 'skipped' && outcome === 'passed') {
      outcome = 'skipped';
    }
  }
  return tally;
}

/**
 * Counts the tests of a step. A failed step counts as a failure even if its report has none: lint has no report, a
 * crashed run writes no report or half a report, and Bun omits a test file that cannot be loaded.
 */
export function tallyStep({ exitCode, report }: Step): Tally {
  const nothing = { passed: 0, failed: 0, skipped: 0 };
  const tally = typeof report === 'object' ? tallyReport(report.xml) : nothing;
  const cases = tally.passed + tally.failed + tally.skipped;
  const incomplete =
    typeof report === 'object' && (cases === 0 || !report.xml.includes('</testsuites>'));
  const unreported = report === 'missing' || incomplete || (exitCode !== 0 && tally.failed === 0);
  return unreported ? { ...tally, failed: tally.failed + 1 } : tally;
}

/** Formats a tally as `12 passed, 0 failed`, and `, 3 skipped` if there are any. */
export function sentence({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** Sums the tests of all steps. */
export function tallySteps(steps: readonly Step[]): Tally {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const step of steps) {
    const { passed, failed, skipped } = tallyStep(step);
    total.passed += passed;
    total.failed += failed;
    total.skipped += skipped;
  }
  return total;
}
