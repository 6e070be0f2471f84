/**
 * The status view that `snicket status` shows: Edges and Exposures, and what the operator reports about them. Pure.
 */
import { edgeStatus } from '../../api/edge.ts';
import { exposureStatus, type ExposureStatus, type Hop } from '../../api/exposure-status.ts';
import { textAt } from '../../kube/unstructured.ts';
import { keyText, type Condition, type KubeObject } from '../../kube/object.ts';
import { ExposureIndex } from '../../management/exposure-index.ts';
import type { OperatorState } from './operator-state.ts';
import { reportedSummary, summaryOf, type Summary } from './summary.ts';

/** An Edge. */
export interface EdgeView extends Summary {
  readonly name: string;
  readonly driver: string;
  readonly domain?: string | undefined;
  readonly addresses: readonly string[];
  /** The number of Exposures that use it; absent: not reported yet. */
  readonly exposures?: number | undefined;
  readonly conditions: readonly Condition[];
}

/** An Exposure. */
export interface ExposureView extends Summary {
  /** `namespace/name`. */
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly created?: string | undefined;
  /** The host of the API: as reported, or as the spec has it. */
  readonly host?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly edge?: string | undefined;
  readonly mode?: string | undefined;
  /** Such as 12/12. */
  readonly proxies?: string | undefined;
  readonly certificate?: ExposureStatus['certificate'];
  readonly conditions: readonly Condition[];
  readonly hops: readonly Hop[];
}

/** All that `snicket status` shows. */
export interface StatusView {
  /** Absent: the user may not read them. */
  readonly edges?: readonly EdgeView[] | undefined;
  readonly exposures: readonly ExposureView[];
  /** Absent: not read yet. */
  readonly operator?: OperatorState | undefined;
  /** The errors in the folder of `snicket run`; absent for a cluster. */
  readonly faults?: readonly string[] | undefined;
}

/** The objects to show. */
export interface StatusObjects {
  /** Absent: the user may not read them. */
  readonly edges?: readonly KubeObject[] | undefined;
  readonly exposures: readonly KubeObject[];
  /** Absent: not read. */
  readonly tenantRoutes?: readonly KubeObject[] | undefined;
  readonly operator?: OperatorState | undefined;
  readonly faults?: readonly string[] | undefined;
  /** The folder of `snicket run`; absent for a cluster. */
  readonly folder?: string | undefined;
}

/** Returns the name of the process that reconciles the objects. */
export function operatorName({ faults }: Pick<StatusView, 'faults'>): string {
  return faults === undefined ? 'Operator' : 'snicket run';
}

/** Returns the status view of these objects, by name. */
export function statusViewOf({ edges, exposures, operator, faults }: StatusObjects): StatusView {
  // With a folder, one process does everything, so that no report is valid once it is down. In a cluster, the edges run
  // independently of the operator.
  const known =
    faults !== undefined && operator?.state === 'down' ? withoutProcess : <T>(view: T) => view;
  const exposureIndex = new ExposureIndex({ exposures: () => exposures, edges: () => edges ?? [] });
  return {
    edges: edges
      ?.map((object) => known(edgeView(object)))
      .toSorted((a, b) => compare(a.name, b.name)),
    exposures: exposures
      .map((object) => known(exposureView(object, exposureIndex)))
      .toSorted((a, b) => compare(a.key, b.key)),
    operator,
    ...(faults !== undefined && { faults }),
  };
}

/** Conditions that are not part of Ready, and still matter to users of the tenant. */
const PATH_CONDITIONS: readonly string[] = ['KonnectivityReady', 'Reachable'];

/**
 * Returns the condition of the path to the tenant that is False although the Exposure is Ready; undefined if there is
 * none.
 */
export function brokenPath(exposure: ExposureView): Condition | undefined {
  return falseAlthoughReady(exposure, PATH_CONDITIONS);
}

/** Reports whether a hop works, but needs attention: it passes with an action. */
export function isWarning({ state, action }: Hop): boolean {
  return state === 'Pass' && action !== undefined;
}

/** Returns the condition Accepted of an Edge that is being deleted and still serves Exposures, as it lists them. */
export function terminating(edge: EdgeView): Condition | undefined {
  return falseAlthoughReady(edge, ['Accepted']);
}

function falseAlthoughReady(
  { ready, conditions }: EdgeView | ExposureView,
  types: readonly string[],
): Condition | undefined {
  if (ready !== 'True') return undefined;
  return conditions.find(({ type, status }) => types.includes(type) && status === 'False');
}

/** Reports whether all that is shown is healthy. What could not be read does not count. */
export function isHealthy({ edges = [], exposures, operator, faults = [] }: StatusView): boolean {
  return (
    [...edges, ...exposures].every(({ ready }) => ready === 'True') &&
    exposures.every((exposure) => brokenPath(exposure) === undefined) &&
    operator?.state !== 'down' &&
    faults.length === 0
  );
}

/** Returns a view of a process that has ended: what was Ready is Unknown now. */
function withoutProcess<T extends Summary>(view: T): T {
  if (view.ready !== 'True') return view;
  const message = 'snicket run is not running; at its last report, this was Ready';
  return { ...view, ready: 'Unknown', reason: 'NotRunning', message };
}

// A status that cannot be parsed counts as absent, as everywhere.
const edgeReport = edgeStatus.optional().catch(undefined);
const exposureReport = exposureStatus.optional().catch(undefined);

/** Cache for objects that have not changed, because parsing their status takes most of the time. */
const exposureReports = new WeakMap<KubeObject, ExposureStatus>();

function reportOf(object: KubeObject): ExposureStatus {
  const known = exposureReports.get(object);
  if (known !== undefined) return known;
  const report = exposureReport.parse(statusIn(object)) ?? {};
  exposureReports.set(object, report);
  return report;
}

function edgeView(object: KubeObject): EdgeView {
  const report = edgeReport.parse(statusIn(object));
  const { name } = object.metadata;
  return {
    name,
    driver: textAt(object, 'spec', 'driver') ?? '-',
    domain: textAt(object, 'spec', 'domain'),
    addresses: report?.addresses ?? [],
    exposures: report?.exposures,
    conditions: report?.conditions ?? [],
    ...reportedSummary(object, report),
  };
}

function exposureView(object: KubeObject, exposureIndex: ExposureIndex): ExposureView {
  const report = reportOf(object);
  const { name, namespace = '', creationTimestamp: created } = object.metadata;
  const isReported = report.endpoint !== undefined && report.edgeRef !== undefined;
  const desired = isReported ? {} : desiredRoute(object, exposureIndex);
  return {
    key: keyText(object.metadata),
    name,
    namespace,
    created,
    host: report.endpoint?.replace(/:[0-9]+$/, '') ?? desired.host,
    endpoint: report.endpoint,
    edge: report.edgeRef?.name ?? desired.edge,
    mode: report.mode,
    proxies: report.proxies?.summary,
    certificate: report.certificate,
    conditions: report.conditions ?? [],
    hops: report.hops ?? [],
    ...summaryOf(object, report),
  };
}

/** Returns the desired host and Edge of an Exposure that the operator has not reported on yet. */
function desiredRoute(
  object: KubeObject,
  exposureIndex: ExposureIndex,
): { readonly host?: string | undefined; readonly edge?: string | undefined } {
  const resolved = exposureIndex.resolve(object).value;
  const host = resolved === undefined || 'code' in resolved.hosts ? undefined : resolved.hosts.api;
  return {
    host: host ?? textAt(object, 'spec', 'hosts', 'api'),
    edge: resolved?.edge.metadata.name ?? textAt(object, 'spec', 'edgeRef', 'name'),
  };
}

function statusIn(object: KubeObject): unknown {
  return (object as { readonly status?: unknown }).status;
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
