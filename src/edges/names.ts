/**
 * Names and labels of the objects of an Exposure.
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
 * Returns a unique name of at most this length. A name that is too long is truncated and ends in a hash. A text of
 * exactly the maximum length gets a hash as well. So no user can choose a name that equals the shortened name of
 * another object.
 */
function fitting(text: string, maxLength: number): string {
  if (text.length < maxLength) return text;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH);
  const kept = text.slice(0, maxLength - HASH_LENGTH - 1);
  // A dash must not follow a dot.
  return `${kept.replace(/[-.]+$/, (end) => '0'.repeat(end.length))}-${hash}`;
}

/** What distinguishes the route objects of an Exposure. */
type RouteSuffix =
  /** An object for each route. */
  | `-${RouteKind}`
  /**
   * For kinds that several drivers write: both objects exist during a move between drivers. Names of Exposures have no
   * dots.
   */
  | `.${Driver}`;

/** Returns the name of a route object of an Exposure. */
export function routeObjectName(exposure: string, suffix: RouteSuffix | '' = ''): string {
  return fitting(`snicket-${exposure}${suffix}`, MAX_NAME_LENGTH);
}

/** Returns all names that route objects of an Exposure can have, for all drivers. */
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
 * Returns the name of the TenantRoute of an Exposure for one host on one Edge. It depends on the driver, since
 * TenantRoutes of both drivers exist while an Edge changes its driver.
 */
export function tenantRouteName(
  exposure: string,
  { edge, driver, host }: { readonly edge: string; readonly driver: string; readonly host: string },
): string {
  const text = `${edge}\n${driver}\n${host}`;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, ROUTE_HASH_LENGTH);
  return `${exposure}-${hash}`;
}

/** Returns the label value with which objects in the management cluster reference their Exposure. */
export function exposureLabelValue(exposure: string): string {
  return fitting(exposure, MAX_LABEL_LENGTH);
}

/** Returns the metadata of a route object, without its owner reference, which needs the uid of the Exposure. */
export function routeMetadata(
  { name, namespace, providerIngress }: ExposureRoutes,
  suffix: RouteSuffix | '' = '',
  annotations: Readonly<Record<string, string>> = {},
): ObjectMeta {
  return {
    name: providerIngress ?? routeObjectName(name, suffix),
    namespace,
    labels: { ...MANAGED_BY, [EXPOSURE_LABEL]: exposureLabelValue(name) },
    // The API server does not return an empty map.
    ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
  };
}
