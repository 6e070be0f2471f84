/**
 * From the values of a routes file to routes, or to the first thing that is wrong with it. No text, no positions: a
 * fault says where in the values it is, and whoever has the text finds the line.
 */
import { serverNameFault } from '../../wire/hello/server-name.ts';
import { networkFault } from './networks.ts';
import { isEndpoint } from './endpoint-text.ts';
import { ROUTE_KINDS, type Route, type RouteKind, type RouteLimits } from './route.ts';

/** The way to a value: `['routes', 3, 'host']`. */
export type ValuePath = readonly (string | number)[];

/** What is wrong with a value. */
export class RouteFault extends Error {
  readonly path: ValuePath;
  /** For a conflict: the way to the value that came first. */
  readonly otherPath: ValuePath | undefined;
  /** It is the key that is wrong, whatever its value. */
  readonly isKey: boolean;

  constructor(sentence: string, path: ValuePath, otherPath?: ValuePath, isKey = false) {
    super(sentence);
    this.name = 'RouteFault';
    this.path = path;
    this.otherPath = otherPath;
    this.isKey = isKey;
  }
}

/** The keys that there are: in the file, in a route, in its limits. */
export const ROUTE_KEYS = {
  file: ['routes'],
  route: ['tenant', 'host', 'kind', 'endpoints', 'limits', 'allowedSources'],
  limits: ['connections', 'connectionsPerSecond'],
} as const;

/** Keys that a route need not have. */
const OPTIONAL_KEYS = 2;

/** Of every route that has none of its own. */
const NO_LIMITS: RouteLimits = {};

/** The route of a host that was found to be good before. */
export type KnownRoute = (host: string) => Route | undefined;

/**
 * The routes of a file. What says the same as a route that is known is that route, and not looked at further: of
 * 10,000 routes mostly one has changed.
 *
 * @throws RouteFault for the first value that is wrong.
 */
export function routesFrom(file: unknown, known: KnownRoute = () => undefined): Route[] {
  const { routes } = objectAt(file, ROUTE_KEYS.file, 'the file', []);
  if (!Array.isArray(routes)) {
    throw new RouteFault(
      `'routes' is ${described(routes)}; write a list, 'routes: []' if there are none`,
      routes === undefined ? [] : ['routes'],
    );
  }
  const placeOf = new Map<string, number>();
  return routes.map((value: unknown, index) => {
    const route = knownAs(value, known) ?? routeFrom(value, index);
    const first = placeOf.get(route.host);
    if (first !== undefined) {
      throw new RouteFault(
        `the host ${route.host} is taken; a host leads to one tenant, so remove one of the two`,
        ['routes', index, 'host'],
        ['routes', first, 'host'],
      );
    }
    placeOf.set(route.host, index);
    return route;
  });
}

function knownAs(value: unknown, known: KnownRoute): Route | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = value as Readonly<Record<string, unknown>>;
  const route = typeof fields.host === 'string' ? known(fields.host) : undefined;
  return route !== undefined && says(fields, route) ? route : undefined;
}

/** Whether the values are word for word those of the route, and no others. */
function says(value: Readonly<Record<string, unknown>>, route: Route): boolean {
  let keys = 0;
  for (const _ in value) keys++;
  const { endpoints } = value;
  // Routes with limits or allowed sources are few: those are parsed again.
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
    const advice = "write a list of networks such as ['10.0.0.0/8'], or leave it out to allow all";
    throw faultAt(path, 'allowedSources', value, advice);
  }
  return (value as unknown[]).map((network, index) => {
    const fault =
      typeof network === 'string' ? networkFault(network) : `${described(network)} is no text`;
    if (fault === undefined) return network as string;
    throw new RouteFault(`an allowed source: ${fault}`, [...path, 'allowedSources', index]);
  });
}

function tenantFrom(value: unknown, path: ValuePath): string {
  if (typeof value === 'string' && value !== '' && value.length <= 253) return value;
  throw faultAt(path, 'tenant', value, 'write a name of 1 to 253 characters');
}

function hostFrom(value: unknown, path: ValuePath): string {
  const advice = 'write the DNS name that clients ask for, such as a.k8s.example.com';
  if (typeof value !== 'string') throw faultAt(path, 'host', value, advice);
  const bytes = Buffer.from(value);
  const fault = serverNameFault(bytes, 0, bytes.length);
  if (fault === undefined) return value.toLowerCase();
  throw faultAt(path, 'host', value, `no client can ask for that (${fault}); ${advice}`);
}

function kindFrom(value: unknown, path: ValuePath): RouteKind {
  const kind = ROUTE_KINDS.find((known) => known === value);
  if (kind !== undefined) return kind;
  throw faultAt(path, 'kind', value, `write ${ROUTE_KINDS.join(' or ')}`);
}

function endpointsFrom(value: unknown, path: ValuePath): readonly string[] {
  if (!Array.isArray(value)) {
    const advice = "write a list such as ['10.0.0.5:6443'], or [] while nothing is ready";
    throw faultAt(path, 'endpoints', value, advice);
  }
  const endpoints: string[] = [];
  for (const endpoint of value as unknown[]) {
    const at = [...path, 'endpoints', endpoints.length];
    if (typeof endpoint !== 'string' || !isEndpoint(endpoint)) {
      const advice = 'write an IP address and a port, 10.0.0.5:6443 or [fd00::5]:6443';
      throw new RouteFault(`an endpoint is ${described(endpoint)}; ${advice}`, at);
    }
    if (endpoints.includes(endpoint)) {
      throw new RouteFault(`the endpoint ${endpoint} is listed twice; remove one`, at, [
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
      throw faultAt(at, key, limit, 'write a whole number from 1 to 1000000, or leave it out');
    }
  }
  return limits;
}

/** An object with no other keys than these. */
function objectAt(
  value: unknown,
  keys: readonly string[],
  what: string,
  path: ValuePath,
): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new RouteFault(
      `${what} is ${described(value)}; write a mapping with ${keys.join(', ')}`,
      path,
    );
  }
  for (const key in value) {
    if (keys.includes(key)) continue;
    const meant = keys.find((known) => isTypoOf(known, key));
    const advice =
      meant === undefined ? `it may have ${keys.join(', ')}` : `did you mean '${meant}'?`;
    const sentence = `${what} cannot have '${key}'; ${advice}`;
    throw new RouteFault(sentence, [...path, key], undefined, true);
  }
  return value as Record<string, unknown>;
}

/** Whether one letter too many, too few or wrong, or the case, is all that differs. */
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

function faultAt(path: ValuePath, key: string, value: unknown, advice: string): RouteFault {
  // A key that is missing has no place of its own.
  const at = value === undefined ? path : [...path, key];
  return new RouteFault(`'${key}' is ${described(value)}; ${advice}`, at);
}

const LONGEST_SHOWN = 80;

function described(value: unknown): string {
  if (value === undefined) return 'missing';
  const text = JSON.stringify(value);
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}
