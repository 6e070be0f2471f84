/**
 * What the checks of an edge found, as text for people and as a value for programs.
 */
import type { CheckResult } from '../../probe/edge-conformance/check-result.ts';
import { tableText, wrappedText, type Colour, type Screen } from '../output/output.ts';
import { tallyText, type Tally } from './doctor-report.ts';

/** An edge, and what was found of it. */
export interface EdgeDiagnosis {
  /** As it was asked for: a name or an address. */
  readonly host: string;
  /** The one that was dialled. */
  readonly address: string;
  readonly port: number;
  /** That were asked for through it. */
  readonly hosts: readonly string[];
  readonly checks: readonly CheckResult[];
}

const COLOURS: Readonly<Partial<Record<CheckResult['state'], Colour>>> = {
  Pass: 'green',
  Warn: 'yellow',
  Fail: 'red',
};

/** Of sentences below the table. */
const INDENT = 2;

/** The table, and below it what is wrong and what to do. */
export function edgeText(diagnosis: EdgeDiagnosis, screen: Screen): string {
  const { checks } = diagnosis;
  const rows = checks.map(({ check, state, code }) => {
    const colour = COLOURS[state];
    return [check, colour === undefined ? state : { text: state, colour }, code];
  });
  return [
    tableText(['CHECK', 'RESULT', 'CODE'], rows, screen),
    ...checks.filter(({ state }) => state !== 'Pass').map((one) => sentencesText(one, screen)),
    `\n${tallyText('1 edge', tallyOfChecks(checks))}`,
  ].join('');
}

/** The same for programs. */
export function edgeValue({ host, address, port, hosts, checks }: EdgeDiagnosis): object {
  return { tally: tallyOfChecks(checks), edge: { host, address, port }, hosts, checks };
}

/** Counts. */
export function tallyOfChecks(checks: readonly CheckResult[]): Tally {
  const count = (state: CheckResult['state']) =>
    checks.filter((result) => result.state === state).length;
  return { fail: count('Fail'), warn: count('Warn'), pass: count('Pass'), skip: count('Skip') };
}

/** What could not be tried for the sake of another check needs no words. */
function sentencesText(
  { check, state, code, message, action }: CheckResult,
  screen: Screen,
): string {
  if (code === 'EarlierCheckFailed') return '';
  const colour = COLOURS[state];
  const head = colour === undefined ? state : wrappedText({ text: state, colour }, 0, screen);
  const sentences = [`${message}.`, ...(action === undefined ? [] : [`To do: ${action}.`])];
  const body = sentences.map(
    (sentence) => `${' '.repeat(INDENT)}${wrappedText(sentence, INDENT, screen)}\n`,
  );
  return `\n${head}  ${check}  ${code}\n${body.join('')}`;
}
