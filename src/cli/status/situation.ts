/**
 * What `snicket status` shows: Edges and Exposures with what the operator says of them. Pure.
 */
import { edgeStatus } from '../../api/edge.ts';
import { exposureStatus, type ExposureStatus, type Hop } from '../../api/exposure-status.ts';
import { textAt } from '../../kube/unstructured.ts';
import { keyText, type Condition, type KubeObject } from '../../kube/object.ts';
import { ExposureIndex } from '../../management/exposure-index.ts';
import type { OperatorState } from './operator-state.ts';
import { standingOf, type Standing } from './standing.ts';

/** An Edge. */
export interface EdgeView extends Standing {
  readonly name: string;
  readonly driver: string;
  readonly domain?: string | undefined;
  readonly addresses: readonly string[];
  /** How many use it; absent: not told yet. */
  readonly exposures?: number | undefined;
  readonly conditions: readonly Condition[];
}

/** An Exposure. */
export interface ExposureView extends Standing {
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
  /** As 12/12. */
  readonly proxies?: string | undefined;
  readonly certificate?: ExposureStatus['certificate'];
  readonly conditions: readonly Condition[];
  readonly hops: readonly Hop[];
}

/** All of it. */
export interface Situation {
  /** Absent: they may not be read. */
  readonly edges?: readonly EdgeView[] | undefined;
  readonly exposures: readonly ExposureView[];
  /** Absent: nobody has asked yet. */
  readonly operator?: OperatorState | undefined;
  /** What is wrong in the folder of `snicket run`, in sentences; absent: there is a cluster in its place. */
  readonly faults?: readonly string[] | undefined;
}

/** The objects that are shown. */
export interface StatusObjects {
  /** Absent: they may not be read. */
  readonly edges?: readonly KubeObject[] | undefined;
  readonly exposures: readonly KubeObject[];
  /** Absent: they were not asked for. */
  readonly tenantRoutes?: readonly KubeObject[] | undefined;
  readonly operator?: OperatorState | undefined;
  readonly faults?: readonly string[] | undefined;
}

/** Who has to run for all of it. */
export function operatorName({ faults }: Pick<Situation, 'faults'>): string {
  return faults === undefined ? 'Operator' : 'snicket run';
}

/** What to show of these objects, by name. */
export function situationOf({ edges, exposures, operator, faults }: StatusObjects): Situation {
  // In a cluster the Edges are others; of a folder there is one process for all.
  const known =
    faults !== undefined && operator?.state === 'down' ? leftBehind : <T>(view: T) => view;
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

/** Conditions that are no part of Ready, and matter to users of the tenant all the same. */
const PATH_CONDITIONS: readonly string[] = ['KonnectivityReady', 'Reachable'];

/** The condition that fails on the path to a tenant, though the Exposure is Ready; undefined if there is none. */
export function brokenPath({ ready, conditions }: ExposureView): Condition | undefined {
  if (ready !== 'True') return undefined;
  return conditions.find(
    ({ type, status }) => PATH_CONDITIONS.includes(type) && status === 'False',
  );
}

/** Whether all that is shown is as it should be. What could not be looked at is nobody's fault. */
export function isWell({ edges = [], exposures, operator, faults = [] }: Situation): boolean {
  return (
    [...edges, ...exposures].every(({ ready }) => ready === 'True') &&
    exposures.every((exposure) => brokenPath(exposure) === undefined) &&
    operator?.state !== 'down' &&
    faults.length === 0
  );
}

/** What its process has left behind: nothing that was well then is known to be well now. */
function leftBehind<T extends Standing>(view: T): T {
  if (view.ready !== 'True') return view;
  const message = 'snicket run does not run, and it was well when that said something last';
  return { ...view, ready: 'Unknown', reason: 'NotRunning', message };
}

// A status that cannot be read counts as none, as everywhere.
const edgeReport = edgeStatus.optional().catch(undefined);
const exposureReport = exposureStatus.optional().catch(undefined);

/** Of an object that has not changed since it was last shown: to read it is most of the work. */
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
    ...standingOf(object, report),
  };
}

function exposureView(object: KubeObject, exposureIndex: ExposureIndex): ExposureView {
  const report = reportOf(object);
  const { name, namespace = '', creationTimestamp: created } = object.metadata;
  const isTold = report.endpoint !== undefined && report.edgeRef !== undefined;
  const wished = isTold ? {} : wishedWay(object, exposureIndex);
  return {
    key: keyText(object.metadata),
    name,
    namespace,
    created,
    host: report.endpoint?.replace(/:[0-9]+$/, '') ?? wished.host,
    endpoint: report.endpoint,
    edge: report.edgeRef?.name ?? wished.edge,
    mode: report.mode,
    proxies: report.proxies?.summary,
    certificate: report.certificate,
    conditions: report.conditions ?? [],
    hops: report.hops ?? [],
    ...standingOf(object, report),
  };
}

/** Host and Edge of an Exposure that nobody has looked at yet. */
function wishedWay(
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
