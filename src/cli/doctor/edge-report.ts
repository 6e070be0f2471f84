/**
 * Results of `snicket doctor edge`, as text and as a value for JSON and YAML.
 */
import type { CheckResult } from '../../probe/edge-conformance/check-result.ts';
import {
  stateCell,
  tableText,
  wrappedText,
  type Screen,
  type StateKind,
} from '../output/output.ts';
import { tallyText, type Tally } from './doctor-report.ts';

/** An edge, and the results of its checks. */
export interface EdgeDiagnosis {
  /** The edge as given by the user: a name or an address. */
  readonly host: string;
  /** The address that was dialed. */
  readonly address: string;
  readonly port: number;
  /** The hosts that were requested through the edge. */
  readonly hosts: readonly string[];
  readonly checks: readonly CheckResult[];
}

const KINDS: Readonly<Record<CheckResult['state'], StateKind>> = {
  Pass: 'pass',
  Warn: 'warn',
  Fail: 'fail',
  Skip: 'skip',
};

/** Indentation of sentences below the table. */
const INDENT = 2;

/** Returns the table, and below it what is wrong and what to do. */
export function edgeText(diagnosis: EdgeDiagnosis, screen: Screen): string {
  const { checks } = diagnosis;
  const rows = checks.map(({ check, state, code }) => [
    check,
    stateCell(state, KINDS[state]),
    code,
  ]);
  return [
    tableText(['CHECK', 'RESULT', 'CODE'], rows, screen),
    ...checks.filter(({ state }) => state !== 'Pass').map((one) => sentencesText(one, screen)),
    `\n${tallyText('1 edge', tallyOfChecks(checks))}`,
  ].join('');
}

/** Returns the results as a value for JSON and YAML. */
export function edgeValue({ host, address, port, hosts, checks }: EdgeDiagnosis): object {
  return { tally: tallyOfChecks(checks), edge: { host, address, port }, hosts, checks };
}

/** Returns the number of checks by state. */
export function tallyOfChecks(checks: readonly CheckResult[]): Tally {
  const count = (state: CheckResult['state']) =>
    checks.filter((result) => result.state === state).length;
  return { fail: count('Fail'), warn: count('Warn'), pass: count('Pass'), skip: count('Skip') };
}

/** Returns the sentences about a check; none if it was skipped because an earlier check failed. */
function sentencesText(
  { check, state, code, message, action }: CheckResult,
  screen: Screen,
): string {
  if (code === 'PrerequisiteFailed') return '';
  const head = wrappedText(stateCell(state, KINDS[state]), 0, screen);
  const sentences = [message, ...(action === undefined ? [] : [`To do: ${action}`])];
  const body = sentences.map(
    (sentence) => `${' '.repeat(INDENT)}${wrappedText(sentence, INDENT, screen)}\n`,
  );
  return `\n${head}  ${check}  ${code}\n${body.join('')}`;
}
