/**
 * The text for all Edges and Exposures, in two tables.
 */
import { findCondition } from '../../kube/conditions.ts';
import {
  fittingTableText,
  tableText,
  wrappedText,
  type Cell,
  type Screen,
} from '../output/output.ts';
import { ageText } from './age.ts';
import {
  brokenPath,
  isWarning,
  terminating,
  type EdgeView,
  type ExposureView,
  type StatusView,
} from './status-view.ts';
import { arranged, problemText, readyCell, type StatusTextOptions } from './status-parts.ts';

/** Maximum number of ready Edges if there is little room. */
const MAX_READY_EDGES = 2;

/** Returns the text with Edges, Exposures and the operator. */
export function overviewText(view: StatusView, options: StatusTextOptions): string {
  const { edges, exposures } = view;
  return arranged(
    (isShort) => ({
      wrong: (edges ?? []).flatMap((edge) => terminatingTexts(edge, options.screen)),
      rest: [
        edgesText(edges, options.screen, isShort),
        exposures.length === 0
          ? noExposures(options)
          : exposuresText(isShort ? urgentFirst(exposures, isUrgent) : exposures, options),
      ],
    }),
    view,
    options,
  );
}

/** Returns those that need attention first, because the end may be cut off. */
function urgentFirst<T>(all: readonly T[], isUrgent: (one: T) => boolean): readonly T[] {
  return [...all.filter(isUrgent), ...all.filter((one) => !isUrgent(one))];
}

function edgesText(
  edges: readonly EdgeView[] | undefined,
  screen: Screen,
  isShort: boolean,
): string {
  if (edges === undefined) {
    const text = 'no permission to list edges.snicket.dev';
    return `Edges: ${wrappedText(text, 7, screen)}\n`;
  }
  if (edges.length === 0) return 'No Edges.\n';
  const isNotReady = (edge: EdgeView) => edge.ready !== 'True' || terminating(edge) !== undefined;
  const urgent = edges.filter(isNotReady).length;
  const shown = isShort ? urgentFirst(edges, isNotReady).slice(0, urgent + MAX_READY_EDGES) : edges;
  const more = edges.length - shown.length;
  const rows = shown.map((edge) => [
    ...[edge.name, edge.driver, edge.domain ?? '-'],
    edge.addresses.length === 0 ? '-' : edge.addresses.join(', '),
    edge.exposures === undefined ? '-' : String(edge.exposures),
    readyCell(edge.ready),
    terminating(edge)?.reason ?? reasonText(edge),
  ]);
  const headings = ['EDGE', 'DRIVER', 'DOMAIN', 'ADDRESS', 'EXPOSURES', 'READY', 'REASON'];
  const spare = ['EXPOSURES', 'DOMAIN', 'DRIVER', 'ADDRESS'];
  const table = fittingTableText(headings, rows, screen, spare);
  return more === 0 ? table : `${table}... and ${more} more that are Ready\n`;
}

/** Returns which Exposures keep an Edge that is being deleted. */
function terminatingTexts(edge: EdgeView, screen: Screen): readonly string[] {
  const { reason: code, message } = terminating(edge) ?? {};
  if (code === undefined || message === undefined) return [];
  return [problemText({ isWarning: true, about: [`Edge ${edge.name}`], code, message }, screen)];
}

function isUrgent(exposure: ExposureView): boolean {
  return exposure.ready !== 'True' || brokenPath(exposure) !== undefined;
}

function noExposures({ hasNamespaces }: StatusTextOptions): string {
  return hasNamespaces
    ? 'No Exposures found.\n'
    : 'No Exposures found in this namespace; to include all namespaces: -A\n';
}

function exposuresText(
  exposures: readonly ExposureView[],
  { screen, now, hasNamespaces, isWide = false }: StatusTextOptions,
): string {
  const rows = exposures.map((exposure) => [
    hasNamespaces ? exposure.key : exposure.name,
    ...[exposure.host, exposure.edge, exposure.mode, exposure.proxies].map((text) => text ?? '-'),
    readyCell(exposure.ready),
    conditionCell(exposure, 'Reachable'),
    exposureReason(exposure),
    ageText(exposure.created, now),
    ...(isWide ? wideCells(exposure) : []),
  ]);
  const names = ['EXPOSURE', 'HOST', 'EDGE', 'MODE', 'PROXIES'];
  const headings = [...names, 'READY', 'REACHABLE', 'REASON', 'AGE'];
  if (isWide) {
    return tableText([...headings, ...WIDE_HEADINGS], rows, { hasColors: screen.hasColors });
  }
  return fittingTableText(headings, rows, screen, ['REACHABLE', 'MODE', 'EDGE', 'AGE', 'HOST']);
}

const WIDE_HEADINGS = ['ENDPOINT', 'KONNECTIVITY', 'HOPS', 'CERTIFICATE-EXPIRES'] as const;

/** Returns the cells of -o wide. HOPS is how many pass, of those that were not skipped. */
function wideCells(exposure: ExposureView): readonly Cell[] {
  const probed = exposure.hops.filter(({ state }) => state !== 'Skip');
  const passed = probed.filter(({ state }) => state === 'Pass');
  return [
    exposure.endpoint ?? '-',
    conditionCell(exposure, 'KonnectivityReady'),
    probed.length === 0 ? '-' : `${passed.length}/${probed.length}`,
    exposure.certificate?.notAfter ?? '-',
  ];
}

/**
 * Returns the status of a condition of the path to the tenant. Shows `-` if the object has changed since that report, or the process that
 * reported it has ended.
 */
function conditionCell({ ready, conditions }: ExposureView, type: string): Cell {
  const condition = findCondition(conditions, type);
  return condition === undefined || ready === 'Unknown' ? '-' : readyCell(condition.status);
}

/** Returns why an Exposure is not Ready, or else what needs attention on the path to the tenant. */
function exposureReason(exposure: ExposureView): string {
  if (exposure.ready !== 'True') return exposure.reason;
  return brokenPath(exposure)?.reason ?? exposure.hops.find(isWarning)?.reason ?? '-';
}

/** Returns the reason; `-` for what is ready. */
function reasonText({ ready, reason }: Pick<EdgeView, 'ready' | 'reason'>): string {
  return ready === 'True' ? '-' : reason;
}
