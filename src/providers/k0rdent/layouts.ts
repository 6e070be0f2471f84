/**
 * Which values of a chart put its control plane behind an edge. k0rdent copies the default values of a chart into the
 * status of its ClusterTemplate. Without them, the values of the ClusterDeployment show the layout, or the name and
 * version of a chart whose history is known.
 */
import type { KubeObject } from '../../kube/object.ts';
import { textAt, valueAt } from '../../kube/unstructured.ts';
import { compareVersions, parseVersion, type Version } from '../../api/versions.ts';

/** The ingress values that charts pass to the K0smotronControlPlane. */
export const INGRESS_VALUES = [
  'enabled',
  'deploy',
  'apiHost',
  'konnectivityHost',
  'className',
  'port',
] as const;
/** One of {@link INGRESS_VALUES}. */
export type IngressValue = (typeof INGRESS_VALUES)[number];

/** The values of a chart that put its control plane behind an edge. */
export interface ChartLayout {
  /** The path of the ingress values. */
  readonly path: readonly string[];
  /** The ingress values that the chart reads. */
  readonly values: ReadonlySet<IngressValue>;
  /** The path of the value with the Service type; absent if the chart has none. */
  readonly serviceType?: readonly string[] | undefined;
  /** Whether the version of the chart is not one of those whose values are known. */
  readonly isAssumed: boolean;
}

const TOP: readonly string[] = ['ingress'];
const NESTED: readonly string[] = ['controlPlane', 'ingress'];
const PATHS = [TOP, NESTED] as const;
const SERVICE_TYPES = [
  ['k0smotron', 'service', 'type'],
  ['controlPlane', 'service', 'type'],
] as const;
const HOSTS: readonly IngressValue[] = ['apiHost', 'konnectivityHost'];

/**
 * Returns the layout of the chart of a ClusterDeployment; undefined if its chart has no ingress values. The
 * ClusterDeployment is as it would be without Snicket.
 */
export function chartLayout(
  deployment: KubeObject,
  template: KubeObject | undefined,
): ChartLayout | undefined {
  const { name, version } = chartOf(deployment, template);
  const defaults = valueAt(template, 'status', 'config');
  const known = layoutOfChart(name, version);
  if (isMap(defaults) && Object.keys(defaults).length > 0)
    return layoutIn(defaults, [...HOSTS, 'className'], known);
  if (known === 'none') return undefined;
  const config = valueAt(deployment, 'spec', 'config');
  const used = layoutIn(config, HOSTS, known);
  if (used === undefined || known === undefined) return used ?? known;
  // The history of a chart lists more values than a user sets, unless the user sets them elsewhere.
  if (!isSamePath(used.path, known.path)) return { ...used, isAssumed: true };
  const values = known.isAssumed ? new Set([...known.values, ...used.values]) : known.values;
  return { ...known, values, isAssumed: false };
}

interface Chart {
  readonly name: string;
  readonly version: Version | undefined;
}

const TEMPLATE = /^(?<name>.+?)(?:-(?<version>\d+-\d+-\d+)(?:-.*)?)?$/;

/** Returns the name and version of the chart, from the template or from its name, as in `openstack-hosted-cp-1-0-40`. */
function chartOf(deployment: KubeObject, template: KubeObject | undefined): Chart {
  const named = TEMPLATE.exec(textAt(deployment, 'spec', 'template') ?? '')?.groups ?? {};
  const chart = valueAt(template, 'spec', 'helm', 'chartSpec');
  const version =
    textAt(template, 'status', 'chartVersion') ??
    textAt(chart, 'version') ??
    named['version']?.replaceAll('-', '.') ??
    '';
  return { name: textAt(chart, 'chart') ?? named['name'] ?? '', version: parseVersion(version) };
}

/** Returns the layout that values with one of these names show, and what is known of the chart where it has the same path. */
function layoutIn(
  values: unknown,
  names: readonly string[],
  known: ChartLayout | 'none' | undefined,
): ChartLayout | undefined {
  const path = PATHS.find((candidate) => hasAny(values, candidate, names));
  const serviceType = SERVICE_TYPES.find(
    (candidate) => valueAt(values, ...candidate.slice(0, -1)) !== undefined,
  );
  const found = path ?? (serviceType?.[0] === NESTED[0] ? NESTED : undefined);
  if (found === undefined) return undefined;
  const keys = Object.keys(valueAt(values, ...found) ?? {});
  const present = INGRESS_VALUES.filter((name) => keys.includes(name) || HOSTS.includes(name));
  const isKnown = known !== undefined && known !== 'none' && isSamePath(known.path, found);
  return {
    path: found,
    values: new Set(keys.length > 0 || !isKnown ? present : known.values),
    serviceType: serviceType ?? (isKnown ? known.serviceType : undefined),
    isAssumed: false,
  };
}

/** Reports whether values contain an ingress with these names, even if they are empty. */
function hasAny(values: unknown, path: readonly string[], names: readonly string[]): boolean {
  const ingress = valueAt(values, ...path);
  return isMap(ingress) && names.some((name) => Object.hasOwn(ingress, name));
}

function layoutOfChart(
  name: string,
  version: Version | undefined,
): ChartLayout | 'none' | undefined {
  if (name === 'openstack-hosted-cp') return openstack(version);
  return name === 'hetzner-hosted-cp' ? hetzner(version) : undefined;
}

/** The template of k0rdent. It has ingress values since 1.0.18, and a value for `deploy` since 1.0.27. */
function openstack(version: Version | undefined): ChartLayout | 'none' {
  if (version !== undefined && isBelow(version, '1.0.18')) return 'none';
  const isOld = version !== undefined && isBelow(version, '1.0.27');
  return {
    path: TOP,
    values: new Set(['enabled', isOld ? 'className' : 'deploy', ...HOSTS, 'port']),
    serviceType: SERVICE_TYPES[0],
    isAssumed: version === undefined,
  };
}

/** The versions of the chart for Hetzner with nested values and a fixed class. */
const FIXED_CLASS = ['0.5.14', '1.0.0', '1.1.0', '1.2.0', '1.2.1'];
/** Its later versions with nested values. */
const NESTED_AGAIN = ['1.3.8', '1.3.9', '1.3.10'];

/**
 * The chart for Hetzner, which changed between two layouts several times. 1.3.7 was published with either of them. It
 * always creates an Ingress.
 */
function hetzner(version: Version | undefined): ChartLayout {
  const text = version === undefined ? '' : Object.values(version).join('.');
  const nested = (values: readonly IngressValue[], isAssumed = false): ChartLayout => ({
    path: NESTED,
    values: new Set([...values, ...HOSTS]),
    serviceType: SERVICE_TYPES[1],
    isAssumed,
  });
  if (FIXED_CLASS.includes(text)) return nested([]);
  if (NESTED_AGAIN.includes(text) || text.startsWith('0.0.')) {
    return nested(['enabled', 'className']);
  }
  if (version !== undefined && isBelow(version, '1.3.0')) return nested([], true);
  const isKnown = version !== undefined && (text === '1.3.0' || !isBelow(version, '1.3.11'));
  return {
    path: TOP,
    values: new Set(['enabled', ...HOSTS, 'className', 'port']),
    isAssumed: !isKnown,
  };
}

function isBelow(version: Version, other: string): boolean {
  const parsed = parseVersion(other);
  return parsed !== undefined && compareVersions(version, parsed) < 0;
}

function isSamePath(a: readonly string[], b: readonly string[]): boolean {
  return a.join('.') === b.join('.');
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
