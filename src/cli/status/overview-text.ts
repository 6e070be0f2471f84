/**
 * The situation for people: Edges and Exposures in two tables.
 */
import { fittingTableText, wrappedText, type Screen } from '../output/output.ts';
import { ageText } from './age.ts';
import type { EdgeView, ExposureView, Situation } from './situation.ts';
import { arranged, readyCell, type StatusTextOptions } from './status-parts.ts';

/** So many Edges that are ready are shown where there is little room. */
const MOST_READY_EDGES = 2;

/** Edges, Exposures and the operator. */
export function overviewText(situation: Situation, options: StatusTextOptions): string {
  const { edges, exposures } = situation;
  return arranged(
    (isShort) => ({
      wrong: [],
      rest: [
        edgesText(edges, options.screen, isShort),
        exposures.length === 0
          ? noExposures(options)
          : exposuresText(isShort ? urgentFirst(exposures) : exposures, options),
      ],
    }),
    situation,
    options,
  );
}

/** Those that are not Ready first: the rest may not be seen. */
function urgentFirst<T extends Pick<EdgeView, 'ready'>>(all: readonly T[]): readonly T[] {
  const isUrgent = ({ ready }: T) => ready !== 'True';
  return [...all.filter(isUrgent), ...all.filter((one) => !isUrgent(one))];
}

function edgesText(
  edges: readonly EdgeView[] | undefined,
  screen: Screen,
  isShort: boolean,
): string {
  if (edges === undefined) {
    const text = 'you may not see them; to see them: list of edges.snicket.dev';
    return `Edges: ${wrappedText(text, 7, screen)}\n`;
  }
  if (edges.length === 0) return 'No Edges.\n';
  const urgent = edges.filter(({ ready }) => ready !== 'True').length;
  const shown = isShort ? urgentFirst(edges).slice(0, urgent + MOST_READY_EDGES) : edges;
  const more = edges.length - shown.length;
  const rows = shown.map((edge) => [
    ...[edge.name, edge.driver, edge.domain ?? '-'],
    edge.addresses.length === 0 ? '-' : edge.addresses.join(', '),
    edge.exposures === undefined ? '-' : String(edge.exposures),
    readyCell(edge.ready),
    reasonText(edge),
  ]);
  const headings = ['EDGE', 'DRIVER', 'DOMAIN', 'ADDRESS', 'EXPOSURES', 'READY', 'REASON'];
  const spare = ['EXPOSURES', 'DOMAIN', 'DRIVER', 'ADDRESS'];
  const table = fittingTableText(headings, rows, screen, spare);
  return more === 0 ? table : `${table}... and ${more} more that are Ready\n`;
}

function noExposures({ hasNamespaces }: StatusTextOptions): string {
  return hasNamespaces ? 'No Exposures.\n' : 'No Exposures in this namespace; -A means all.\n';
}

function exposuresText(
  exposures: readonly ExposureView[],
  { screen, now, hasNamespaces }: StatusTextOptions,
): string {
  const rows = exposures.map((exposure) => [
    hasNamespaces ? exposure.key : exposure.name,
    ...[exposure.host, exposure.edge, exposure.mode, exposure.proxies].map((text) => text ?? '-'),
    readyCell(exposure.ready),
    reasonText(exposure),
    ageText(exposure.created, now),
  ]);
  const headings = ['EXPOSURE', 'HOST', 'EDGE', 'MODE', 'PROXIES', 'READY', 'REASON', 'AGE'];
  return fittingTableText(headings, rows, screen, ['MODE', 'EDGE', 'AGE', 'HOST']);
}

/** Of what is ready there is nothing to say. */
function reasonText({ ready, reason }: Pick<EdgeView, 'ready' | 'reason'>): string {
  return ready === 'True' ? '-' : reason;
}
