/**
 * How the objects of an Exposure are called and labelled.
 */
import { createHash } from 'node:crypto';
import { DRIVERS, type Driver } from '../api/edge.ts';
import type { ObjectMeta } from '../kube/object.ts';
import { EXPOSURE_LABEL, MANAGED_BY } from '../api/labels.ts';
import type { ExposureRoutes, RouteKind } from './route.ts';

const MAX_NAME_LENGTH = 253;
const MAX_LABEL_LENGTH = 63;
const HASH_LENGTH = 20;

/**
 * A name of at most this length, and another one for every other text: what is too long ends in a hash. A text of
 * exactly that length is hashed too: so whatever has it ends in a hash, and nobody can choose a name that equals the
 * shortened one of another.
 */
function fitting(text: string, maxLength: number): string {
  if (text.length < maxLength) return text;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH);
  const kept = text.slice(0, maxLength - HASH_LENGTH - 1);
  // A dash must not follow a dot.
  return `${kept.replace(/[-.]+$/, (end) => '0'.repeat(end.length))}-${hash}`;
}

/** What tells the route objects of an Exposure apart, where one name would not do. */
export type RouteSuffix =
  /** One object for each route. */
  | `-${RouteKind}`
  /** A kind that several drivers write: while routes move from one to another, both are there. No name has a dot. */
  | `.${Driver}`;

/** The name of an object with routes of an Exposure. */
export function routeObjectName(exposure: string, suffix: RouteSuffix | '' = ''): string {
  return fitting(`snicket-${exposure}${suffix}`, MAX_NAME_LENGTH);
}

/** Every name that an object with routes of an Exposure may have, whichever driver has written it. */
export function routeObjectNames(exposure: string): readonly string[] {
  const suffixes = [
    '',
    '-api',
    '-konnectivity',
    ...DRIVERS.map((name) => `.${name}` as const),
  ] as const;
  return suffixes.map((suffix) => routeObjectName(exposure, suffix));
}

/** Length of the hash in the name of a TenantRoute: 10 hexadecimal digits, 40 bits. */
const ROUTE_HASH_LENGTH = 10;

/**
 * The name of the TenantRoute of an Exposure for one host on one Edge. The driver is part of it: while an Edge changes
 * its driver, the TenantRoutes of both are there.
 */
export function tenantRouteName(
  exposure: string,
  { edge, driver, host }: { readonly edge: string; readonly driver: string; readonly host: string },
): string {
  const text = `${edge}\n${driver}\n${host}`;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, ROUTE_HASH_LENGTH);
  return `${exposure}-${hash}`;
}

/** The value by which objects of the management cluster name their Exposure. */
export function exposureLabelValue(exposure: string): string {
  return fitting(exposure, MAX_LABEL_LENGTH);
}

/** The metadata of an object with routes. Its owner is put in by whoever knows the Exposure's uid. */
export function routeMetadata(
  { name, namespace }: ExposureRoutes,
  suffix: RouteSuffix | '' = '',
  annotations: Readonly<Record<string, string>> = {},
): ObjectMeta {
  return {
    name: routeObjectName(name, suffix),
    namespace,
    labels: { ...MANAGED_BY, [EXPOSURE_LABEL]: exposureLabelValue(name) },
    // An empty map does not come back from an API server.
    ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
  };
}
