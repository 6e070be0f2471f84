/**
 * Results of `snicket doctor --pre`, as text and as a value for JSON and YAML.
 */
import { stateCell, tableText, wrappedText, type Screen } from '../../output/output.ts';
import { tallyText, type Tally } from '../doctor-report.ts';
import type { RequirementCheck } from './requirements.ts';

const KINDS = { Pass: 'pass', Warn: 'warn', Fail: 'fail' } as const;
/** Indentation of sentences below the table. */
const INDENT = 2;

/** Returns the table, and below it what is missing and what to do. */
export function requirementsText(checks: readonly RequirementCheck[], screen: Screen): string {
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
    `\n${tallyText('1 cluster', tallyOfRequirements(checks))}`,
  ].join('');
}

/** Returns the results as a value for JSON and YAML. */
export function requirementsValue(server: string, checks: readonly RequirementCheck[]): object {
  return { tally: tallyOfRequirements(checks), server, checks };
}

/** Returns the number of checks by state. */
export function tallyOfRequirements(checks: readonly RequirementCheck[]): Tally {
  const count = (state: RequirementCheck['state']) =>
    checks.filter((one) => one.state === state).length;
  return { fail: count('Fail'), warn: count('Warn'), pass: count('Pass'), skip: 0 };
}
