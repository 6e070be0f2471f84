/**
 * Results of `snicket doctor`, as text and as a value for JSON and YAML.
 */
import type { Finding } from '../../api/finding.ts';
import type { HopResult } from '../../probe/hop.ts';
import { plainText } from '../../text/plain-text.ts';
import { wrappedText, type Colour, type Screen } from '../output/output.ts';
import type { Examination } from './examination.ts';
import type { UnresolvedExposure } from './unresolved-exposures.ts';

/** All examinations, and the control planes whose requested Exposure does not exist. */
export interface Diagnosis {
  readonly examinations: readonly Examination[];
  readonly unmet: readonly UnresolvedExposure[];
}

/** Number of results by state. A hop that passes with an action counts as a warning. */
export interface Tally {
  readonly fail: number;
  readonly warn: number;
  readonly pass: number;
  readonly skip: number;
}

type Mark = 'Pass' | 'Warn' | 'Fail' | 'Skip';

/** A row of the table, and the sentences below it. */
interface Row {
  readonly hop: string;
  readonly mark: Mark;
  readonly code: string;
  readonly target: string;
  readonly message?: string | undefined;
  readonly action?: string | undefined;
}

const COLOURS: Readonly<Partial<Record<Mark, Colour>>> = {
  Pass: 'green',
  Warn: 'yellow',
  Fail: 'red',
};

/** The hop of findings, which are about no real hop. */
const PLAN = 'plan';
/** Indentation of sentences below a row. */
const INDENT = 4;
const GAP = '  ';

/** Returns the text for one Exposure: a title and its hops. */
export function examinationText(examination: Examination, screen: Screen): string {
  const { exposure, endpoint, edge, driver, mode, isLeaving } = examination;
  const way = edge === undefined ? 'no Edge' : `Edge ${edge} (${[driver, mode].join(', ')})`;
  const state = isLeaving ? 'is being deleted' : way;
  return blockText([exposure, endpoint ?? 'no host', state].join(GAP), rowsOf(examination), screen);
}

/** Returns the text for a control plane without an Exposure. */
export function unresolvedText({ object, findings }: UnresolvedExposure, screen: Screen): string {
  const rows = findings.map((finding) => findingRow(finding, object));
  return blockText(`${object}${GAP}asks for an Exposure and has none`, rows, screen);
}

/** Returns the text for hops that belong to no Exposure. */
export function hopsText(head: string, hops: readonly HopResult[], screen: Screen): string {
  return blockText(head, hops.map(hopRow), screen);
}

/** Returns the last line: `2 Exposures: 1 Fail, 0 Warn, 15 Pass, 2 Skip`. */
export function tallyText(what: string, { fail, warn, pass, skip }: Tally): string {
  return `${what}: ${fail} Fail, ${warn} Warn, ${pass} Pass, ${skip} Skip\n`;
}

/** Returns the number of hops and findings by state. */
export function tallyOf({ examinations, unmet }: Diagnosis): Tally {
  const rows = [
    ...examinations.flatMap(rowsOf),
    ...unmet.flatMap(({ object, findings }) => findings.map((one) => findingRow(one, object))),
  ];
  return tallyOfMarks(rows.map(({ mark }) => mark));
}

/** Returns the number of hops by state. */
export function tallyOfHops(hops: readonly HopResult[]): Tally {
  return tallyOfMarks(hops.map(markOf));
}

function tallyOfMarks(marks: readonly Mark[]): Tally {
  const count = (mark: Mark) => marks.filter((one) => one === mark).length;
  return { fail: count('Fail'), warn: count('Warn'), pass: count('Pass'), skip: count('Skip') };
}

/** Returns the results as a value for JSON and YAML. */
export function diagnosisValue(diagnosis: Diagnosis): object {
  const { examinations, unmet } = diagnosis;
  return {
    tally: tallyOf(diagnosis),
    exposures: examinations.map(({ hops, findings, ...about }) => ({
      ...about,
      hops: hops.map(hopValue),
      findings: findings.map(findingValue),
    })),
    unmet: unmet.map(({ object, findings }) => ({ object, findings: findings.map(findingValue) })),
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

function gravity({ mark }: Row): number {
  return mark === 'Fail' ? 0 : 1;
}

function findingRow({ code, severity, message, action }: Finding, target: string): Row {
  const mark = severity === 'error' ? 'Fail' : 'Warn';
  return { hop: PLAN, mark, code, target, message, action };
}

/** Returns the row of a hop. Omits the message if the hop passes, or was skipped because of another hop. */
function hopRow(hop: HopResult): Row {
  const { name, code, target, message, action } = hop;
  const mark = markOf(hop);
  const isPlain = mark === 'Pass' || (mark === 'Skip' && code !== 'NotLookedAt');
  const row = { hop: name, mark, code, target };
  return isPlain ? row : { ...row, message, action };
}

function markOf({ state, action }: HopResult): Mark {
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
  const line = (hop: string, mark: string, code: string, place: string): string => {
    const target = plainText(place);
    const colour = COLOURS[mark as Mark];
    const state = colour === undefined ? mark : painted(mark, colour, screen);
    const padding = ' '.repeat(Math.max(0, 'STATE'.length - mark.length));
    const start = `${GAP}${hop.padEnd(widths.hop)}${GAP}${state}${padding}${GAP}`;
    const codeAt = GAP.length * 3 + widths.hop + 'STATE'.length;
    const { columns = Infinity } = screen;
    if (codeAt + widths.code + GAP.length + target.length <= columns) {
      return `${start}${code.padEnd(widths.code)}${GAP}${target}\n`;
    }
    // The target goes below the code, so that it does not look like a sentence. A long host gets the full width.
    const longest = Math.max(...target.split(' ').map(({ length }) => length));
    const indent = codeAt + longest <= columns ? codeAt : INDENT;
    return `${start}${code}\n${' '.repeat(indent)}${wrappedText(target, indent, screen)}\n`;
  };
  const body = rows.map(({ hop, mark, code, target, message, action }) =>
    [
      line(hop, mark, code, target),
      message === undefined ? '' : sentenceText(`${message}.`, screen),
      action === undefined ? '' : sentenceText(`To do: ${action}.`, screen),
    ].join(''),
  );
  return [title, line('HOP', 'STATE', 'CODE', 'TARGET'), ...body].join('');
}

function sentenceText(sentence: string, screen: Screen): string {
  return `${' '.repeat(INDENT)}${wrappedText(sentence, INDENT, screen)}\n`;
}

function painted(text: string, colour: Colour, { hasColours }: Screen): string {
  return wrappedText({ text, colour }, 0, { hasColours });
}
