/**
 * Results of checks and hops by state, and the reports of `snicket doctor edge` and `snicket doctor --pre`, as text and
 * as values for JSON and YAML.
 */
import type { CheckResult } from '../../probe/edge-conformance/check-result.ts';
import { stateCell, tableText, wrappedText, type Cell, type Screen } from '../output/output.ts';
import type { PreflightCheck } from './preflight/checks.ts';

/** The state of a result. */
export type State = CheckResult['state'];

const KINDS = { Pass: 'pass', Warn: 'warn', Fail: 'fail', Skip: 'skip' } as const;

/** Returns the cell of a state. */
export function resultCell(state: State): Cell {
  return stateCell(state, KINDS[state]);
}

/** Number of results by state. */
export interface Tally {
  readonly fail: number;
  readonly warn: number;
  readonly pass: number;
  readonly skip: number;
}

/** Returns the number of results by state. */
export function tallyOfStates(results: readonly { readonly state: State }[]): Tally {
  const count = (state: State) => results.filter((result) => result.state === state).length;
  return { fail: count('Fail'), warn: count('Warn'), pass: count('Pass'), skip: count('Skip') };
}

/** Returns the last line: `2 Exposures: 1 Fail, 0 Warn, 15 Pass, 2 Skip`. */
export function tallyText(what: string, { fail, warn, pass, skip }: Tally): string {
  return `${what}: ${fail} Fail, ${warn} Warn, ${pass} Pass, ${skip} Skip\n`;
}

/** Returns the table of an edge, and below it what is wrong and what to do. */
export function edgeText(checks: readonly CheckResult[], screen: Screen): string {
  const rows = checks.map(({ check, state, code }) => [check, resultCell(state), code]);
  return [
    tableText(['CHECK', 'RESULT', 'CODE'], rows, screen),
    ...checks.filter(({ state }) => state !== 'Pass').map((one) => problemText(one, screen)),
    `\n${tallyText('1 edge', tallyOfStates(checks))}`,
  ].join('');
}

/** Returns the sentences about a check; none if it was skipped because an earlier check failed. */
function problemText({ check, state, code, message, action }: CheckResult, screen: Screen): string {
  if (code === 'PrerequisiteFailed') return '';
  const head = `${wrappedText(resultCell(state), 0, screen)}  ${check}  ${code}`;
  return `\n${head}\n${indented(message, screen)}${action === undefined ? '' : indented(`To do: ${action}`, screen)}`;
}

/** Returns the table of the preflight checks, and below it the actions for those that did not pass. */
export function preflightText(checks: readonly PreflightCheck[], screen: Screen): string {
  const rows = checks.map(({ check, state, code, message }) => [
    ...[check, resultCell(state), code, message],
  ]);
  return [
    tableText(['CHECK', 'RESULT', 'CODE', 'FOUND'], rows, screen),
    ...checks.flatMap(({ check, action }) =>
      action === undefined ? [] : `\n${check}\n${indented(`To do: ${action}`, screen)}`,
    ),
    `\n${tallyText('1 cluster', tallyOfStates(checks))}`,
  ].join('');
}

function indented(sentence: string, screen: Screen): string {
  return `  ${wrappedText(sentence, 2, screen)}\n`;
}
