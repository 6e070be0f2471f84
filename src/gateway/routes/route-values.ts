/**
 * Converts the parsed values of a routes file to routes, or reports the first invalid value. An error has the path of
 * the value; the caller maps the path to a line.
 */
import { serverNameFault } from '../../wire/hello/server-name.ts';
import { networkProblem } from './networks.ts';
import { isEndpoint } from './endpoint-text.ts';
import { ROUTE_KINDS, type Route, type RouteKind, type RouteLimits } from './route.ts';

/** Path to a value, such as `['routes', 3, 'host']`. */
export type ValuePath = readonly (string | number)[];

/** An invalid value. */
export class RouteValueError extends Error {
  readonly path: ValuePath;
  /** For a conflict, the path to the value that came first. */
  readonly otherPath: ValuePath | undefined;
  /** Whether the key itself is invalid, regardless of its value. */
  readonly isKey: boolean;

  constructor(message: string, path: ValuePath, otherPath?: ValuePath, isKey = false) {
    super(message);
    this.name = 'RouteValueError';
    this.path = path;
    this.otherPath = otherPath;
    this.isKey = isKey;
  }
}

/** The allowed keys of the file, of a route and of its limits. */
export const ROUTE_KEYS = {
  file: ['routes'],
  route: ['tenant', 'host', 'kind', 'endpoints', 'limits', 'allowedSources'],
  limits: ['connections', 'connectionsPerSecond'],
} as const;

/** Number of keys that a route can omit. */
const OPTIONAL_KEYS = 2;

/** Shared by all routes without limits, so that they compare by identity. */
const NO_LIMITS: RouteLimits = {};

/** Returns the valid route that a host had before, if any. */
export type KnownRoute = (host: string) => Route | undefined;

/**
 * Returns the routes of a file. An entry that equals the known route of its host is not validated again: usually one of
 * 10,000 routes has changed.
 *
 * @throws RouteValueError for the first invalid value.
 */
export function routesFrom(file: unknown, known: KnownRoute = () => undefined): Route[] {
  const indexes = new Map<string, number>();
  return entriesOf(file).map((value, index) => uniqueRouteFrom(value, index, known, indexes));
}

/** Returns the first error of each route, or the error of the file as a whole. */
export function routeErrors(file: unknown): readonly RouteValueError[] {
  const faults: RouteValueError[] = [];
  const indexes = new Map<string, number>();
  const collect = (check: () => void): void => {
    try {
      check();
    } catch (error) {
      if (!(error instanceof RouteValueError)) throw error;
      faults.push(error);
    }
  };
  collect(() => {
    for (const [index, value] of entriesOf(file).entries()) {
      collect(() => uniqueRouteFrom(value, index, () => undefined, indexes));
    }
  });
  return faults;
}

/** Returns the entries of a file. @throws RouteValueError if it has no list of routes. */
function entriesOf(file: unknown): readonly unknown[] {
  const { routes } = objectAt(file, ROUTE_KEYS.file, 'the file', []);
  if (Array.isArray(routes)) return routes;
  throw new RouteValueError(
    `'routes' is ${describe(routes)}; write a list, 'routes: []' if there are none`,
    routes === undefined ? [] : ['routes'],
  );
}

/**
 * `indexes` has the entries so far by host. @throws RouteValueError if the entry is invalid or its host is not unique.
 */
function uniqueRouteFrom(
  value: unknown,
  index: number,
  known: KnownRoute,
  indexes: Map<string, number>,
): Route {
  const route = knownRouteFor(value, known) ?? routeFrom(value, index);
  const first = indexes.get(route.host);
  if (first !== undefined) {
    throw new RouteValueError(
      `host ${route.host} is already used by another route; remove one of the two`,
      ['routes', index, 'host'],
      ['routes', first, 'host'],
    );
  }
  indexes.set(route.host, index);
  return route;
}

function knownRouteFor(value: unknown, known: KnownRoute): Route | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = value as Readonly<Record<string, unknown>>;
  const route = typeof fields.host === 'string' ? known(fields.host) : undefined;
  return route !== undefined && equalsRoute(fields, route) ? route : undefined;
}

/** Whether the values equal those of the route exactly, with no further keys. */
function equalsRoute(value: Readonly<Record<string, unknown>>, route: Route): boolean {
  let keys = 0;
  for (const _ in value) keys++;
  const { endpoints } = value;
  // Few routes have limits or allowed sources. Those are parsed again.
  return (
    keys === ROUTE_KEYS.route.length - OPTIONAL_KEYS &&
    route.limits === NO_LIMITS &&
    route.allowedSources === undefined &&
    value.host === route.host &&
    value.tenant === route.tenant &&
    value.kind === route.kind &&
    Array.isArray(endpoints) &&
    endpoints.length === route.endpoints.length &&
    endpoints.every((endpoint, index) => endpoint === route.endpoints[index])
  );
}

function routeFrom(value: unknown, index: number): Route {
  const path = ['routes', index] as const;
  const fields = objectAt(value, ROUTE_KEYS.route, 'a route', path);
  const route = {
    tenant: tenantFrom(fields.tenant, path),
    host: hostFrom(fields.host, path),
    kind: kindFrom(fields.kind, path),
    endpoints: endpointsFrom(fields.endpoints, path),
    limits: limitsFrom(fields.limits, path),
  };
  if (fields.allowedSources === undefined) return route;
  return { ...route, allowedSources: sourcesFrom(fields.allowedSources, path) };
}

function sourcesFrom(value: unknown, path: ValuePath): readonly string[] {
  if (!Array.isArray(value) || value.length === 0) {
    const advice = "write a list of networks such as ['10.0.0.0/8'], or omit it to allow all";
    throw errorAt(path, 'allowedSources', value, advice);
  }
  return (value as unknown[]).map((network, index) => {
    const fault =
      typeof network === 'string'
        ? networkProblem(network)
        : `${describe(network)} is not a string`;
    if (fault === undefined) return network as string;
    throw new RouteValueError(`an allowed source: ${fault}`, [...path, 'allowedSources', index]);
  });
}

function tenantFrom(value: unknown, path: ValuePath): string {
  if (typeof value === 'string' && value !== '' && value.length <= 253) return value;
  throw errorAt(path, 'tenant', value, 'write a name of 1 to 253 characters');
}

function hostFrom(value: unknown, path: ValuePath): string {
  const advice = 'write the DNS name that clients use, such as a.k8s.example.com';
  if (typeof value !== 'string') throw errorAt(path, 'host', value, advice);
  const bytes = Buffer.from(value);
  const fault = serverNameFault(bytes, 0, bytes.length);
  if (fault === undefined) return value.toLowerCase();
  throw errorAt(path, 'host', value, `not a valid server name (${fault}); ${advice}`);
}

function kindFrom(value: unknown, path: ValuePath): RouteKind {
  const kind = ROUTE_KINDS.find((known) => known === value);
  if (kind !== undefined) return kind;
  throw errorAt(path, 'kind', value, `write ${ROUTE_KINDS.join(' or ')}`);
}

function endpointsFrom(value: unknown, path: ValuePath): readonly string[] {
  if (!Array.isArray(value)) {
    const advice = "write a list such as ['10.0.0.5:6443'], or [] while no endpoint is ready";
    throw errorAt(path, 'endpoints', value, advice);
  }
  const endpoints: string[] = [];
  for (const endpoint of value as unknown[]) {
    const at = [...path, 'endpoints', endpoints.length];
    if (typeof endpoint !== 'string' || !isEndpoint(endpoint)) {
      const advice = 'write an IP address and a port, 10.0.0.5:6443 or [fd00::5]:6443';
      throw new RouteValueError(`an endpoint is ${describe(endpoint)}; ${advice}`, at);
    }
    if (endpoints.includes(endpoint)) {
      throw new RouteValueError(`the endpoint ${endpoint} is listed twice; remove one`, at, [
        ...path,
        'endpoints',
        endpoints.indexOf(endpoint),
      ]);
    }
    endpoints.push(endpoint);
  }
  return endpoints;
}

function limitsFrom(value: unknown, path: ValuePath): RouteLimits {
  if (value === undefined) return NO_LIMITS;
  const at = [...path, 'limits'];
  const limits = objectAt(value, ROUTE_KEYS.limits, 'limits', at);
  for (const [key, limit] of Object.entries(limits)) {
    const isCount = typeof limit === 'number' && Number.isInteger(limit) && limit >= 1;
    if (!isCount || limit > 1e6) {
      throw errorAt(at, key, limit, 'write a whole number from 1 to 1000000, or omit it');
    }
  }
  return limits;
}

/** Returns the value as an object, and rejects any other keys. */
function objectAt(
  value: unknown,
  keys: readonly string[],
  description: string,
  path: ValuePath,
): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new RouteValueError(
      `${description} is ${describe(value)}; write a mapping with ${keys.join(', ')}`,
      path,
    );
  }
  for (const key in value) {
    if (keys.includes(key)) continue;
    const suggestion = keys.find((known) => isTypoOf(known, key));
    const advice =
      suggestion === undefined ? `it may have ${keys.join(', ')}` : `did you mean '${suggestion}'?`;
    const message = `${description} cannot have '${key}'; ${advice}`;
    throw new RouteValueError(message, [...path, key], undefined, true);
  }
  return value as Record<string, unknown>;
}

/** Whether the keys differ only in case, or in one letter that is added, missing or wrong. */
function isTypoOf(known: string, key: string): boolean {
  const a = known.toLowerCase();
  const b = key.toLowerCase();
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  return [
    [0, 0],
    [0, 1],
    [1, 0],
    [1, 1],
  ].some(([inA = 0, inB = 0]) => a.slice(same + inA) === b.slice(same + inB));
}

function errorAt(path: ValuePath, key: string, value: unknown, advice: string): RouteValueError {
  // A missing key has no position, so use that of its parent.
  const at = value === undefined ? path : [...path, key];
  return new RouteValueError(`'${key}' is ${describe(value)}; ${advice}`, at);
}

const MAX_VALUE_CHARACTERS = 80;

function describe(value: unknown): string {
  if (value === undefined) return 'missing';
  // YAML has .nan, .inf and 1e400. JSON.stringify would write them as null.
  const text =
    typeof value === 'number' && !Number.isFinite(value) ? String(value) : JSON.stringify(value);
  return text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS)}…` : text;
}
