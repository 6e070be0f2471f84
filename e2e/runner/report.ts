/** Merges the JUnit reports of all scenarios, and formats a table of their durations. */
import { alignedText } from '../../scripts/ci/steps-table.ts';
import type { Outcome } from './run-scenarios.ts';

/** The result of one scenario. */
export interface ScenarioReport {
  readonly outcome: Outcome;
  /** The JUnit report of its test process; undefined if it wrote none. */
  readonly xml: string | undefined;
}

/**
 * Merges the reports of all scenarios. A scenario that did not run counts as skipped. A failed scenario counts as a
 * failure, even if its own report is missing or has no failure.
 */
export function mergedReport(reports: readonly ScenarioReport[]): string {
  const suites = reports.flatMap(({ outcome, xml = '' }) => {
    const { scenario, result, reason } = outcome;
    if (result === 'skipped') return [scenarioSuite(scenario.name, 'skipped', reason ?? '')];
    const [, cases] = /<testsuites[^>]*>([^]*)<\/testsuites>/.exec(xml) ?? [];
    const isExplained =
      cases !== undefined && (result === 'passed' || /<(?:failure|error)\b/.test(cases));
    return [
      ...(cases === undefined ? [] : [cases.trim()]),
      ...(isExplained ? [] : [scenarioSuite(scenario.name, 'failure', reason ?? 'see its log')]),
    ];
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="e2e">\n${suites.join('\n')}\n</testsuites>\n`;
}

/** Returns a suite with one case for a whole scenario. */
function scenarioSuite(name: string, result: 'skipped' | 'failure', reason: string): string {
  const outcome = `<${result} message="${escapedAttribute(reason)}"/>`;
  return `<testsuite name="${name}"><testcase name="${name}">${outcome}</testcase></testsuite>`;
}

function escapedAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** Returns a line for each scenario, the longest first. */
export function durationsTable(outcomes: readonly Outcome[]): string {
  const rows = outcomes
    .toSorted((first, second) => second.seconds - first.seconds)
    .map(({ scenario, result, seconds, reason }) => [
      scenario.name,
      result === 'skipped' ? '-' : `${seconds} s`,
      reason === undefined ? result : `${result}: ${reason.split('\n')[0]}`,
    ]);
  return alignedText([['SCENARIO', 'TIME', 'RESULT'], ...rows], new Set([1]));
}
