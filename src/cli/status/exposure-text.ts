/**
 * The text for a single Exposure.
 */
import type { Hop } from '../../api/exposure-status.ts';
import {
  stateCell,
  tableText,
  wrappedText,
  type Cell,
  type Screen,
  type StateKind,
} from '../output/output.ts';
import { ageText } from './age.ts';
import { problemsOf, type Problem } from './problems.ts';
import { isWarning, type EdgeView, type ExposureView, type StatusView } from './status-view.ts';
import {
  arranged,
  headText,
  problemText,
  readyCell,
  type StatusTextOptions,
} from './status-parts.ts';

/** Rows below the problems that are reserved for the rest. */
const RESERVED_ROWS = 5;
const HOP_KINDS: Readonly<Record<string, StateKind | undefined>> = {
  Pass: 'pass',
  Warn: 'warn',
  Fail: 'fail',
  Skip: 'skip',
};

/** Returns all that is known about an Exposure, and what to do about its problems. */
export function exposureText(
  exposure: ExposureView,
  view: StatusView,
  options: StatusTextOptions,
): string {
  const edge = view.edges?.find(({ name }) => name === exposure.edge);
  const room = (options.rows ?? Infinity) - RESERVED_ROWS;
  return arranged(
    (isShort) => ({
      wrong: problemTexts(problemsOf(exposure, edge), options.screen, isShort ? room : Infinity),
      rest: [
        factsText(exposure, edge, options),
        ...conditionTexts(exposure, options, isShort),
        ...hopTexts(exposure, options, isShort),
      ],
    }),
    view,
    options,
  );
}

function factsText(
  exposure: ExposureView,
  edge: EdgeView | undefined,
  { screen, now }: StatusTextOptions,
): string {
  const facts: readonly (readonly [string, Cell | undefined])[] = [
    ['Exposure', exposure.key],
    ['Ready', readyCell(exposure.ready)],
    ['Endpoint', exposure.endpoint ?? exposure.host],
    ['Edge', edgeCell(exposure, edge)],
    ['Mode', exposure.mode],
    ['Proxies', exposure.proxies],
    ['Certificate', certificateText(exposure)],
    ['Age', ageText(exposure.created, now)],
  ];
  const known = facts.flatMap(([name, cell]) =>
    cell === undefined ? [] : [[name, cell] as const],
  );
  const width = Math.max(...known.map(([name]) => name.length)) + 2;
  const lines = known.map(
    ([name, cell]) => `${name.padEnd(width)}${wrappedText(cell, width, screen)}\n`,
  );
  return lines.join('');
}

function edgeCell({ edge }: ExposureView, view: EdgeView | undefined): Cell | undefined {
  if (edge === undefined) return undefined;
  const more = [...(view === undefined ? [] : [`driver ${view.driver}`, ...view.addresses])];
  return `${edge}${more.length === 0 ? '' : ` (${more.join(', ')})`}`;
}

function certificateText({ certificate }: ExposureView): string | undefined {
  if (certificate === undefined) return undefined;
  return `of the proxies: until ${certificate.notAfter}, the next one at ${certificate.renewAt}`;
}

function conditionTexts(
  { conditions }: ExposureView,
  { screen, now }: StatusTextOptions,
  isShort: boolean,
): readonly string[] {
  const shown = isShort ? conditions.filter(({ status }) => status !== 'True') : conditions;
  const rows = shown.map(({ type, status, reason, lastTransitionTime }) => [
    ...[type, readyCell(status), reason, ageText(lastTransitionTime, now)],
  ]);
  const left = { count: conditions.length - shown.length, are: 'conditions that are True' };
  return tableTexts(['CONDITION', 'STATUS', 'REASON', 'SINCE'], rows, left, screen);
}

/** Returns the state with its mark. A state that only a newer operator has gets none. */
function hopStateCell(hop: Hop): Cell {
  const state = isWarning(hop) ? 'Warn' : hop.state;
  const kind = HOP_KINDS[state];
  return kind === undefined ? state : stateCell(state, kind);
}

function hopTexts(
  { hops }: ExposureView,
  { screen, now }: StatusTextOptions,
  isShort: boolean,
): readonly string[] {
  const shown = isShort ? hops.filter((hop) => hop.state !== 'Pass' || isWarning(hop)) : hops;
  const rows = shown.map((hop) => [
    ...[hop.name, hopStateCell(hop), hop.reason, ageText(hop.at, now)],
  ]);
  const left = { count: hops.length - shown.length, are: 'hops that pass' };
  return tableTexts(['HOP', 'STATE', 'REASON', 'SINCE'], rows, left, screen);
}

/** Returns a table, and how many rows are left out of it; empty if there is neither. */
function tableTexts(
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
  left: { readonly count: number; readonly are: string },
  screen: Screen,
): readonly string[] {
  const table = rows.length === 0 ? '' : tableText(headings, rows, screen);
  const text = left.count === 0 ? table : `${table}... and ${left.count} ${left.are}\n`;
  return text === '' ? [] : [text];
}

/** Returns the text of each problem. Those that do not fit have only their headings, at the end. */
function problemTexts(
  problems: readonly Problem[],
  screen: Screen,
  room: number,
): readonly string[] {
  const texts = problems.map((problem) => problemText(problem, screen));
  let used = 0;
  const fitting = texts.findIndex((text, at) => {
    used += text.split('\n').length;
    return used + texts.length - at - 1 > room;
  });
  // The first problem is never shortened.
  const whole = fitting === -1 ? texts.length : Math.max(1, fitting);
  const heads = problems.slice(whole).map((problem) => `${headText(problem, screen)}\n`);
  return [...texts.slice(0, whole), ...(heads.length === 0 ? [] : [heads.join('')])];
}
