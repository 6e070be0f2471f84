/**
 * The situation for people: two tables, or all that is known of one Exposure.
 */
import type { Condition } from '../../kube/object.ts';
import {
  fittingTableText,
  tableText,
  wrappedText,
  type Cell,
  type Colour,
  type Screen,
} from '../output.ts';
import { ageText } from './age.ts';
import { problemsOf } from './problems.ts';
import type { EdgeView, ExposureView, Situation } from './situation.ts';
import type { OperatorState } from './operator-state.ts';

/** How to show it. */
export interface StatusTextOptions {
  readonly screen: Screen;
  readonly now: Date;
  /** Whether names of Exposures are shown with their namespaces. */
  readonly hasNamespaces: boolean;
  /** Of more Exposures than this, those that are not Ready come first: the rest may not be seen. Default: by name. */
  readonly rows?: number | undefined;
}

const READY_COLOURS: Readonly<Record<Condition['status'], Colour>> = {
  True: 'green',
  False: 'red',
  Unknown: 'yellow',
};
const MOST_FAULTS = 20;
const HOP_COLOURS = { Pass: 'green', Fail: 'red', Skip: 'yellow' } as const;

/** Edges, Exposures and the operator. */
export function overviewText(situation: Situation, options: StatusTextOptions): string {
  const { edges, exposures, operator, faults } = situation;
  return [
    edgesText(edges, options.screen),
    exposures.length === 0 ? noExposures(options) : exposuresText(exposures, options),
    ...faultTexts(faults, options.screen),
    ...(operator === undefined ? [] : [operatorText(operator, options.screen)]),
  ].join('\n');
}

function edgesText(edges: readonly EdgeView[] | undefined, screen: Screen): string {
  if (edges === undefined) {
    const text = 'you may not see them; to see them: list of edges.snicket.dev';
    return `Edges: ${wrappedText(text, 7, screen)}\n`;
  }
  if (edges.length === 0) return 'No Edges.\n';
  const rows = edges.map((edge) => [
    ...[edge.name, edge.driver, edge.domain ?? '-'],
    edge.addresses.length === 0 ? '-' : edge.addresses.join(', '),
    edge.exposures === undefined ? '-' : String(edge.exposures),
    readyCell(edge.ready),
    reasonText(edge),
  ]);
  const headings = ['EDGE', 'DRIVER', 'DOMAIN', 'ADDRESS', 'EXPOSURES', 'READY', 'REASON'];
  return fittingTableText(headings, rows, screen, ['EXPOSURES', 'DOMAIN', 'DRIVER', 'ADDRESS']);
}

function noExposures({ hasNamespaces }: StatusTextOptions): string {
  return hasNamespaces ? 'No Exposures.\n' : 'No Exposures in this namespace; -A means all.\n';
}

function exposuresText(
  exposures: readonly ExposureView[],
  { screen, now, hasNamespaces, rows: most = Infinity }: StatusTextOptions,
): string {
  const isUrgent = ({ ready }: ExposureView) => ready !== 'True';
  const ordered =
    exposures.length > most
      ? [...exposures.filter(isUrgent), ...exposures.filter((one) => !isUrgent(one))]
      : exposures;
  const rows = ordered.map((exposure) => [
    hasNamespaces ? exposure.key : exposure.name,
    ...[exposure.host, exposure.edge, exposure.mode, exposure.proxies].map((text) => text ?? '-'),
    readyCell(exposure.ready),
    reasonText(exposure),
    ageText(exposure.created, now),
  ]);
  const headings = ['EXPOSURE', 'HOST', 'EDGE', 'MODE', 'PROXIES', 'READY', 'REASON', 'AGE'];
  return fittingTableText(headings, rows, screen, ['MODE', 'EDGE', 'AGE', 'HOST']);
}

function readyCell(ready: Condition['status']): Cell {
  return { text: ready, colour: READY_COLOURS[ready] };
}

/** Of what is ready there is nothing to say. */
function reasonText({ ready, reason }: Pick<EdgeView, 'ready' | 'reason'>): string {
  return ready === 'True' ? '-' : reason;
}

/** What is wrong in the folder; those that nobody would read are counted. */
function faultTexts(faults: readonly string[] = [], screen: Screen): readonly string[] {
  if (faults.length === 0) return [];
  const more = faults.length - MOST_FAULTS;
  const lines = [
    'Wrong in the folder:',
    ...faults
      .slice(0, MOST_FAULTS)
      .map((text) => `  ${wrappedText({ text, colour: 'red' }, 2, screen)}`),
    ...(more > 0 ? [`  ... and ${more} more`] : []),
  ];
  return [`${lines.join('\n')}\n`];
}

function operatorText({ state, message, action }: OperatorState, screen: Screen): string {
  const colour = ({ running: 'green', down: 'red', unknown: 'yellow' } as const)[state];
  const text = `${message}${action === undefined ? '' : `; ${action}`}`;
  return `Operator: ${wrappedText({ text, colour }, 10, screen)}\n`;
}

/** All that is known of one Exposure, and what to do about what is wrong. */
export function exposureText(
  exposure: ExposureView,
  { edges, operator, faults }: Situation,
  { screen, now }: StatusTextOptions,
): string {
  const edge = edges?.find(({ name }) => name === exposure.edge);
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
  return [
    lines.join(''),
    ...(exposure.conditions.length === 0 ? [] : [conditionsText(exposure, screen, now)]),
    ...(exposure.hops.length === 0 ? [] : [hopsText(exposure, screen, now)]),
    ...problemTexts(exposure, edge, screen),
    ...faultTexts(faults, screen),
    ...(operator === undefined ? [] : [operatorText(operator, screen)]),
  ].join('\n');
}

function edgeCell(
  { edge, formerEdge }: ExposureView,
  view: EdgeView | undefined,
): Cell | undefined {
  if (edge === undefined) return undefined;
  const more = [
    ...(view === undefined ? [] : [`driver ${view.driver}`, ...view.addresses]),
    ...(formerEdge === undefined ? [] : [`and Edge ${formerEdge} until everybody goes by it`]),
  ];
  return `${edge}${more.length === 0 ? '' : ` (${more.join(', ')})`}`;
}

function certificateText({ certificate }: ExposureView): string | undefined {
  if (certificate === undefined) return undefined;
  return `of the proxies: until ${certificate.notAfter}, the next one at ${certificate.renewAt}`;
}

function conditionsText({ conditions }: ExposureView, screen: Screen, now: Date): string {
  const rows = conditions.map(({ type, status, reason, lastTransitionTime }) => [
    ...[type, readyCell(status), reason, ageText(lastTransitionTime, now)],
  ]);
  return tableText(['CONDITION', 'STATUS', 'REASON', 'SINCE'], rows, screen);
}

function hopsText({ hops }: ExposureView, screen: Screen, now: Date): string {
  const rows = hops.map(({ name, state, reason, at }) => [
    ...[name, { text: state, colour: HOP_COLOURS[state] }, reason, ageText(at, now)],
  ]);
  return tableText(['HOP', 'STATE', 'REASON', 'SINCE'], rows, screen);
}

function problemTexts(
  exposure: ExposureView,
  edge: EdgeView | undefined,
  screen: Screen,
): readonly string[] {
  return problemsOf(exposure, edge).map(({ isWarning, about, code, message, action }) => {
    const colour = isWarning ? 'yellow' : 'red';
    const lines = [
      wrappedText({ text: `${code} (${about.join(', ')})`, colour }, 0, screen),
      `  ${wrappedText(message, 2, screen)}`,
      ...(action === undefined ? [] : [`  ${wrappedText(`To do: ${action}`, 2, screen)}`]),
    ];
    return `${lines.join('\n')}\n`;
  });
}
