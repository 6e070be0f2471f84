/**
 * The output of `snicket doctor --pre`: a table, or a value for JSON and YAML.
 */
import { stateCell, tableText, wrappedText, type Screen } from '../../output/output.ts';
import { tallyText, type Tally } from '../doctor-report.ts';
import type { PreflightCheck } from './checks.ts';

const KINDS = { Pass: 'pass', Warn: 'warn', Fail: 'fail' } as const;
/** The indentation of actions below the table, in spaces. */
const INDENT = 2;

/** Returns the table of results, followed by the actions for checks that did not pass. */
export function preflightText(checks: readonly PreflightCheck[], screen: Screen): string {
  const rows = checks.map(({ check, state, code, message }) => [
    ...[check, stateCell(state, KINDS[state]), code, message],
  ]);
  const actions = checks.flatMap(({ check, action }) =>
    action === undefined
      ? []
      : `\n${check}\n${' '.repeat(INDENT)}${wrappedText(`To do: ${action}`, INDENT, screen)}\n`,
  );
  return [
    tableText(['CHECK', 'RESULT', 'CODE', 'FOUND'], rows, screen),
    ...actions,
    `\n${tallyText('1 cluster', preflightTally(checks))}`,
  ].join('');
}

/** Returns the results as a value for JSON and YAML. */
export function preflightValue(server: string, checks: readonly PreflightCheck[]): object {
  return { tally: preflightTally(checks), server, checks };
}

/** Returns the number of checks by state. */
export function preflightTally(checks: readonly PreflightCheck[]): Tally {
  const count = (state: PreflightCheck['state']) =>
    checks.filter((check) => check.state === state).length;
  return { fail: count('Fail'), warn: count('Warn'), pass: count('Pass'), skip: 0 };
}
