/**
 * Results of `snicket doctor`, as text and as a value for JSON and YAML.
 */
import type { Finding } from '../../api/finding.ts';
import type { HopResult } from '../../probe/hop.ts';
import { plainText } from '../../text/plain-text.ts';
import { wrappedText, type Cell, type Screen } from '../output/output.ts';
import { resultCell, tallyOfStates, type State, type Tally } from './check-report.ts';
import type { Examination } from './examination.ts';
import type { UnresolvedExposure } from './unresolved-exposures.ts';

/** All examinations, and the control planes whose requested Exposure does not exist. */
interface Diagnosis {
  readonly examinations: readonly Examination[];
  readonly unresolved: readonly UnresolvedExposure[];
}

/** A row of the table, and the sentences below it. */
interface Row {
  readonly hop: string;
  readonly state: State;
  readonly code: string;
  readonly target: string;
  readonly message?: string | undefined;
  readonly action?: string | undefined;
}

/** The hop of findings, which are about no real hop. */
const PLAN = 'plan';
const HEADING_STATE = 'STATE';
/** Indentation of sentences below a row. */
const INDENT = 4;
const GAP = '  ';

/** Returns the text for one Exposure: a title and its hops. */
export function examinationText(examination: Examination, screen: Screen): string {
  const { exposure, endpoint, edge, driver, mode, isBeingDeleted } = examination;
  const way = edge === undefined ? 'no Edge' : `Edge ${edge} (${[driver, mode].join(', ')})`;
  const state = isBeingDeleted ? 'is being deleted' : way;
  return blockText([exposure, endpoint ?? 'no host', state].join(GAP), rowsOf(examination), screen);
}

/** Returns the text for a control plane without an Exposure. */
export function unresolvedText({ object, findings }: UnresolvedExposure, screen: Screen): string {
  const rows = findings.map((finding) => findingRow(finding, object));
  return blockText(`${object}${GAP}Exposure not created`, rows, screen);
}

/** Returns the text for hops that belong to no Exposure. */
export function hopsText(head: string, hops: readonly HopResult[], screen: Screen): string {
  return blockText(head, hops.map(hopRow), screen);
}

/** Returns the number of hops and findings by state. A hop that passes with an action counts as a warning. */
export function tallyOf({ examinations, unresolved }: Diagnosis): Tally {
  return tallyOfStates([
    ...examinations.flatMap(rowsOf),
    ...unresolved.flatMap(({ object, findings }) => findings.map((one) => findingRow(one, object))),
  ]);
}

/** Returns the number of hops by state. */
export function tallyOfHops(hops: readonly HopResult[]): Tally {
  return tallyOfStates(hops.map(hopRow));
}

/** Returns the results as a value for JSON and YAML. */
export function diagnosisValue(diagnosis: Diagnosis): object {
  const { examinations, unresolved } = diagnosis;
  return {
    tally: tallyOf(diagnosis),
    exposures: examinations.map(({ hops, findings, ...about }) => ({
      ...about,
      hops: hops.map(hopValue),
      findings: findings.map(findingValue),
    })),
    unresolved: unresolved.map(({ object, findings }) => ({
      object,
      findings: findings.map(findingValue),
    })),
  };
}

/** Returns a hop as a value for JSON and YAML. */
export function hopValue({ name, state, code, target, message, action }: HopResult): object {
  return { hop: name, state, code, target, message, ...(action !== undefined && { action }) };
}

function findingValue({ code, severity, message, action }: Finding): object {
  return { code, severity, message, action };
}

function rowsOf({ exposure, hops, findings }: Examination): readonly Row[] {
  const rows = findings.map((finding) => findingRow(finding, `Exposure ${exposure}`));
  return [...rows.toSorted((a, b) => gravity(a) - gravity(b)), ...hops.map(hopRow)];
}

function gravity({ state }: Row): number {
  return state === 'Fail' ? 0 : 1;
}

function findingRow({ code, severity, message, action }: Finding, target: string): Row {
  const state = severity === 'error' ? 'Fail' : 'Warn';
  return { hop: PLAN, state, code, target, message, action };
}

/** Returns the row of a hop. Omits the message if the hop passes, or was skipped because of another hop. */
function hopRow(hop: HopResult): Row {
  const { name, code, target, message, action } = hop;
  const state = stateOf(hop);
  const isPlain = state === 'Pass' || (state === 'Skip' && code !== 'NotObserved');
  const row = { hop: name, state, code, target };
  return isPlain ? row : { ...row, message, action };
}

function stateOf({ state, action }: HopResult): State {
  return state === 'Pass' && action !== undefined ? 'Warn' : state;
}

function blockText(head: string, rows: readonly Row[], screen: Screen): string {
  const title = `${wrappedText(head, INDENT, screen)}\n`;
  if (rows.length === 0) return title;
  const width = (texts: readonly string[]) => Math.max(...texts.map(({ length }) => length));
  const widths = {
    hop: width(['HOP', ...rows.map(({ hop }) => hop)]),
    code: width(['CODE', ...rows.map(({ code }) => code)]),
  };
  const stateText = (cell: Cell) => wrappedText(cell, 0, { hasColors: screen.hasColors });
  const states = [HEADING_STATE, ...rows.map(({ state }) => resultCell(state))];
  const stateWidth = Math.max(...states.map((cell) => Bun.stringWidth(stateText(cell))));
  const line = (hop: string, cell: Cell, code: string, rawTarget: string): string => {
    const target = plainText(rawTarget);
    const state = stateText(cell);
    const padding = ' '.repeat(stateWidth - Bun.stringWidth(state));
    const start = `${GAP}${hop.padEnd(widths.hop)}${GAP}${state}${padding}${GAP}`;
    const codeAt = GAP.length * 3 + widths.hop + stateWidth;
    const { columns = Infinity } = screen;
    if (codeAt + widths.code + GAP.length + target.length <= columns) {
      return `${start}${code.padEnd(widths.code)}${GAP}${target}\n`;
    }
    // The target goes below the code, so that it does not look like a sentence. A long host gets the full width.
    const longest = Math.max(...target.split(' ').map(({ length }) => length));
    const indent = codeAt + longest <= columns ? codeAt : INDENT;
    return `${start}${code}\n${' '.repeat(indent)}${wrappedText(target, indent, screen)}\n`;
  };
  const body = rows.map(({ hop, state, code, target, message, action }) =>
    [
      line(hop, resultCell(state), code, target),
      message === undefined ? '' : sentenceText(message, screen),
      action === undefined ? '' : sentenceText(`To do: ${action}`, screen),
    ].join(''),
  );
  return [title, line('HOP', HEADING_STATE, 'CODE', 'TARGET'), ...body].join('');
}

function sentenceText(sentence: string, screen: Screen): string {
  return `${' '.repeat(INDENT)}${wrappedText(sentence, INDENT, screen)}\n`;
}
