/**
 * From what a management cluster says to the routes of a gateway. Pure.
 */
import type { ExposureStatus } from '../api/exposure-status.ts';
import { isEndpoint } from '../gateway/routes/endpoint-text.ts';
import type { Route, RouteKind } from '../gateway/routes/route.ts';
import type { KubeObject } from '../kube/object.ts';
import { quoted } from '../text/quote.ts';
import { isIPv6 } from '../wire/ip-address.ts';
import { serverNameFault } from '../wire/hello/server-name.ts';

/** As much of an Exposure as a gateway needs. Its schema is the API server's affair: loading it here would cost 8 MB. */
export interface RoutedExposure extends KubeObject {
  readonly status?: Pick<
    ExposureStatus,
    'edgeRef' | 'driver' | 'formerEdge' | 'route' | 'formerRoute'
  >;
}

/** As much of an EndpointSlice as a gateway needs. */
export interface EndpointSlice extends KubeObject {
  readonly addressType: 'IPv4' | 'IPv6' | 'FQDN';
  readonly ports?: readonly { readonly name?: string; readonly port?: number }[] | null;
  readonly endpoints?: readonly SliceEndpoint[] | null;
}

/** One backend of a slice. */
export interface SliceEndpoint {
  readonly addresses?: readonly string[] | null;
  readonly conditions?: {
    readonly ready?: boolean;
    readonly serving?: boolean;
    readonly terminating?: boolean;
  } | null;
}

/** What {@link exposureRoutes} is told. */
export interface RouteFacts {
  readonly exposures: Iterable<RoutedExposure>;
  readonly slicesOf: (namespace: string, service: string) => readonly EndpointSlice[];
  /** Routes of this Edge only. */
  readonly edge?: string | undefined;
}

/** The routes, and the sentences that have to be said of those that could not be. */
export interface RoutesFound {
  readonly routes: readonly Route[];
  readonly faults: readonly string[];
}

/**
 * The routes of all Exposures that the operator has accepted for Snicket's own gateway. No host comes twice: the
 * operator sees to that, and should it ever fail, the older Exposure has it.
 */
export function exposureRoutes({ exposures, slicesOf, edge }: RouteFacts): RoutesFound {
  const routes = new Map<string, Route>();
  const faults: string[] = [];
  const carried = [...exposures]
    .filter(({ status }) => status?.route !== undefined && isCarried(status, edge))
    .toSorted(byAge);
  // A host of before leads where it did only if nobody has it now.
  for (const which of ['route', 'formerRoute'] as const) {
    for (const { status, metadata } of carried) {
      const { namespace = '', name } = metadata;
      const tenant = `${namespace}/${name}`;
      for (const kind of ['api', 'konnectivity'] as const satisfies readonly RouteKind[]) {
        const target = status?.[which]?.[kind];
        const host = target?.host.toLowerCase() ?? '';
        if (target === undefined || (which === 'formerRoute' && routes.has(host))) continue;
        const fault = hostFault(host, routes.get(host)?.tenant);
        if (fault !== undefined) {
          faults.push(`Exposure ${tenant} asks for the ${kind} host '${target.host}', ${fault}`);
          continue;
        }
        const slices = slicesOf(namespace, target.service);
        const { endpoints, unusable } = endpointsOf(slices, target.portName ?? '');
        routes.set(host, { ...{ tenant, host, kind, limits: NO_LIMITS }, endpoints });
        for (const text of unusable) {
          faults.push(
            `Service ${namespace}/${target.service} of Exposure ${tenant} has the endpoint ${quoted(text)}, which cannot be dialled; it is left out`,
          );
        }
      }
    }
  }
  return { routes: [...routes.values()], faults };
}

/** By the gateways of this Edge, or of any: those of the Edge in use, and of one that is being left. */
function isCarried(
  { driver, edgeRef, formerEdge }: NonNullable<RoutedExposure['status']>,
  wanted: string | undefined,
): boolean {
  const inUse = driver === 'snicket' ? edgeRef?.name : undefined;
  return wanted === undefined
    ? driver === 'snicket' || formerEdge !== undefined
    : inUse === wanted || formerEdge === wanted;
}

const NO_LIMITS = {};

function byAge(a: RoutedExposure, b: RoutedExposure): number {
  const age = (exposure: RoutedExposure) => exposure.metadata.creationTimestamp ?? '';
  const key = ({ metadata }: RoutedExposure) => `${metadata.namespace}/${metadata.name}`;
  return age(a).localeCompare(age(b)) || key(a).localeCompare(key(b));
}

function hostFault(host: string, holder: string | undefined): string | undefined {
  if (holder !== undefined) return `which leads to ${holder} already`;
  const bytes = Buffer.from(host);
  const fault = serverNameFault(bytes, 0, bytes.length);
  return fault === undefined ? undefined : `for which no client can ask (${fault})`;
}

interface Endpoints {
  readonly endpoints: readonly string[];
  /** An API server takes port 0 and addresses with leading zeros. */
  readonly unusable: readonly string[];
}

/**
 * Where connections may go: ready endpoints; if there are none, those that end but still serve, as kube-proxy has it.
 */
function endpointsOf(slices: readonly EndpointSlice[], portName: string): Endpoints {
  const ready = new Set<string>();
  const ending = new Set<string>();
  const unusable = new Set<string>();
  for (const { addressType, ports, endpoints } of slices) {
    const port = ports?.find(({ name }) => (name ?? '') === portName)?.port;
    if (addressType === 'FQDN' || port === undefined) continue;
    for (const { addresses, conditions } of endpoints ?? []) {
      const isReady = conditions?.ready ?? true;
      const isEnding = conditions?.serving === true && conditions.terminating === true;
      // The addresses of one endpoint are the same backend; consumers use the first.
      const address = addresses?.[0];
      if (address === undefined || (!isReady && !isEnding)) continue;
      const text = endpointText(address, port);
      if (!isEndpoint(text)) unusable.add(text);
      else (isReady ? ready : ending).add(text);
    }
  }
  // In a stable order, so that the same endpoints are the same route.
  const endpoints = [...(ready.size > 0 ? ready : ending)].toSorted();
  return { endpoints, unusable: [...unusable].toSorted() };
}

function endpointText(address: string, port: number): string {
  return isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`;
}
