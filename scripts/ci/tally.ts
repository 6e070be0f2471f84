/**
 * Counts the tests of a CI run from the JUnit reports of its steps.
 */

/** Test cases by outcome. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** One command of the run. */
export interface Step {
  readonly exitCode: number;
  /**
   * What the step reported: JUnit XML, `missing` if it should have written a report and did not,
   * `none` if it is of a kind that writes none.
   */
  readonly report: { readonly xml: string } | 'missing' | 'none';
}

/** A start or end tag. Attribute values are taken whole, because `>` is legal inside them. */
const TAG = /<(\/?)([\w:.-]+)(?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*\s*(\/?)>/g;

/** Parts of XML whose text may look like a tag and is none. */
const OPAQUE = /<!\[CDATA\[[\s\S]*?\]\]>|<!--[\s\S]*?-->/g;

/**
 * Counts the cases themselves, not the totals in the attributes: writers disagree on whether
 * `failures` contains `errors`. A failure outside any case (a suite's set-up) counts as one.
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
 * A step that failed shows in the sum even if its report does not say so: lint has none, a run
 * that crashed wrote none or half of one, and Bun leaves a test file that cannot be loaded out of it.
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

/** `12 passed, 0 failed`, and `, 3 skipped` if any were. */
export function sentence({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** The tests of all steps together. */
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
