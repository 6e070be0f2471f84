/** Computes the route of a host from its TenantRoutes and the EndpointSlices of their Services. Pure. */
import { exposureKeyOf, oldestRoute, owningRoute } from '../api/host-ownership.ts';
import type { TenantRoute } from '../api/tenant-route.ts';
import { networkProblem } from '../gateway/routes/networks.ts';
import { isEndpoint } from '../gateway/routes/endpoint-text.ts';
import type { Route, RouteLimits } from '../gateway/routes/route.ts';
import { keyText, type KubeObject } from '../kube/object.ts';
import { quoted } from '../text/quote.ts';
import { isIPv6 } from '../wire/ip-address.ts';
import { serverNameFault } from '../wire/hello/server-name.ts';

/** The fields of an EndpointSlice that a gateway needs. */
export interface EndpointSlice extends KubeObject {
  readonly addressType: 'IPv4' | 'IPv6' | 'FQDN';
  readonly ports?: readonly { readonly name?: string; readonly port?: number }[] | null;
  readonly endpoints?: readonly SliceEndpoint[] | null;
}

/** One endpoint of a slice. */
export interface SliceEndpoint {
  readonly addresses?: readonly string[] | null;
  readonly conditions?: {
    readonly ready?: boolean;
    readonly serving?: boolean;
    readonly terminating?: boolean;
  } | null;
}

/** The inputs of {@link hostRoute}. */
export interface HostFacts {
  readonly host: string;
  /** All TenantRoutes for the host, of every Edge and driver. */
  readonly tenantRoutes: readonly TenantRoute[];
  /** Returns the slices of a Service, by its namespace and name. */
  readonly slicesOf: (namespace: string, service: string) => readonly EndpointSlice[];
  /** The Edge that the gateway serves. Default: every Edge with driver `snicket`. */
  readonly edge?: string | undefined;
  /** The gateway's own limits, which a TenantRoute can lower but not raise. 0 means no limit. Default: no limits. */
  readonly maxLimits?: Required<RouteLimits> | undefined;
}

/** The route of a host, and its faults as sentences. */
interface HostResult {
  /** Undefined if this gateway does not serve the host. */
  readonly route?: Route | undefined;
  readonly faults: readonly string[];
}

/**
 * Computes the route of one host on this gateway. The host belongs to the Exposure of its oldest TenantRoute, regardless
 * of its Edge. TenantRoutes of other Exposures for the host are faults.
 */
export function hostRoute({
  host,
  tenantRoutes,
  slicesOf,
  edge,
  maxLimits,
}: HostFacts): HostResult {
  const owning = owningRoute(tenantRoutes);
  const served = tenantRoutes.filter((route) => isServedHere(route, edge));
  if (owning === undefined || served.length === 0) return { faults: [] };
  const tenant = exposureKeyOf(owning);
  const faults = served
    .filter((route) => exposureKeyOf(route) !== tenant)
    .map(
      ({ metadata }) =>
        `TenantRoute ${keyText(metadata)} is ignored: host ${quoted(host)} belongs to Exposure ${tenant}`,
    );
  const route = oldestRoute(served.filter((candidate) => exposureKeyOf(candidate) === tenant));
  if (route === undefined) return { faults };
  const bytes = Buffer.from(host);
  const invalid = serverNameFault(bytes, 0, bytes.length);
  if (invalid !== undefined) {
    const name = keyText(route.metadata);
    return { faults: [`TenantRoute ${name} has an invalid host ${quoted(host)} (${invalid})`] };
  }
  const { namespace = '' } = route.metadata;
  const { service } = route.spec.backend;
  const { endpoints, unusable } = endpointsOf(
    slicesOf(namespace, service.name),
    service.portName ?? '',
  );
  const { limits, allowedSources } = route.spec;
  const isValid = (source: string) => networkProblem(source) === undefined;
  return {
    route: {
      tenant,
      host,
      kind: route.spec.type === 'API' ? 'api' : 'konnectivity',
      limits: limits === undefined ? NO_LIMITS : limitsOf(limits, maxLimits),
      endpoints,
      ...(allowedSources !== undefined && { allowedSources: allowedSources.filter(isValid) }),
    },
    faults: [
      ...faults,
      ...(allowedSources ?? [])
        .filter((source) => !isValid(source))
        .map(
          (source) =>
            `TenantRoute ${keyText(route.metadata)} has an invalid allowed source ${quoted(source)}, which allows nothing`,
        ),
      ...unusable.map(
        (text) =>
          `Service ${namespace}/${service.name} of Exposure ${tenant} has an invalid endpoint ${quoted(text)}, which is ignored`,
      ),
    ],
  };
}

function isServedHere({ spec }: TenantRoute, edge: string | undefined): boolean {
  return spec.driver === 'snicket' && (edge === undefined || spec.edgeRef.name === edge);
}

const NO_LIMITS = {};

function limitsOf(
  { maxConnections, newConnectionsPerSecond }: NonNullable<TenantRoute['spec']['limits']>,
  max: Required<RouteLimits> = { connections: 0, connectionsPerSecond: 0 },
): RouteLimits {
  const { connections, connectionsPerSecond } = max;
  return {
    ...(maxConnections !== undefined && { connections: capped(maxConnections, connections) }),
    ...(newConnectionsPerSecond !== undefined && {
      connectionsPerSecond: capped(newConnectionsPerSecond, connectionsPerSecond),
    }),
  };
}

function capped(value: number, max: number): number {
  return max === 0 ? value : Math.min(value, max);
}

interface Endpoints {
  readonly endpoints: readonly string[];
  /** Invalid endpoints. API servers accept port 0 and addresses with leading zeros. */
  readonly unusable: readonly string[];
}

/**
 * Returns the endpoints that can receive connections: the ready ones, or if there are none, terminating ones that still
 * serve. kube-proxy does the same.
 */
function endpointsOf(slices: readonly EndpointSlice[], portName: string): Endpoints {
  const ready = new Set<string>();
  const terminating = new Set<string>();
  const unusable = new Set<string>();
  for (const { addressType, ports, endpoints } of slices) {
    const port = ports?.find(({ name }) => (name ?? '') === portName)?.port;
    if (addressType === 'FQDN' || port === undefined) continue;
    for (const { addresses, conditions } of endpoints ?? []) {
      const isReady = conditions?.ready ?? true;
      const isTerminating = conditions?.serving === true && conditions.terminating === true;
      // The addresses of one endpoint are the same backend; consumers use the first.
      const address = addresses?.[0];
      if (address === undefined || (!isReady && !isTerminating)) continue;
      const text = endpointText(address, port);
      if (!isEndpoint(text)) unusable.add(text);
      else (isReady ? ready : terminating).add(text);
    }
  }
  // Sorted, so that the same endpoints result in an equal route.
  const endpoints = [...(ready.size > 0 ? ready : terminating)].toSorted();
  return { endpoints, unusable: [...unusable].toSorted() };
}

function endpointText(address: string, port: number): string {
  return isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`;
}
