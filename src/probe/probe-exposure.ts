/**
 * All hops of the way to one tenant, in their order.
 */
import type { Clock } from '../clock/clock.ts';
import { dialTcp, type Dial } from './dial.ts';
import { hopResult, notLookedAt, skippedForSameCause, type HopResult } from './hop.ts';
import { judgeDns, resolveHost, type Lookup, type Resolved } from './hops/dns.ts';
import { systemLookup } from './hops/system-lookup.ts';
import { ENDPOINTS_TARGET, judgeEndpoints, type EndpointsFacts } from './hops/endpoints.ts';
import { judgeKubeconfig, type PublishedKubeconfig } from './hops/kubeconfig.ts';
import { judgeProxies, PROXIES_TARGET, type ProxiesFacts } from './hops/proxies.ts';
import { ipVersion } from '../wire/ip-address.ts';
import { probeNetwork } from './network.ts';
import type { KnownAuthorities } from './tls/authorities.ts';

/** What to probe. What is left out is not probed: there is no such hop then. */
export interface ProbeTarget {
  readonly apiHost: string;
  readonly konnectivityHost?: string | undefined;
  /** Of the edge, as clients see it. */
  readonly port: number;
  /** IP addresses; also names, as load balancers have them. Empty: wherever the API host leads is dialled. */
  readonly edgeAddresses: readonly string[];
  /** PEM. Undefined: it is not known, and hops that need it are not looked at. */
  readonly tenantCa: string | undefined;
  /** Whose certificate it may be, if it is not this tenant's. Default: other tenants are not told from the edge. */
  readonly otherAuthorities?: KnownAuthorities | undefined;
  readonly endpoints?: EndpointsFacts | undefined;
  readonly proxies?: ProxiesFacts | undefined;
  /** The one that the provider gives out. */
  readonly kubeconfig?: PublishedKubeconfig | undefined;
}

/** How to probe. */
export interface ProbeOptions {
  readonly signal?: AbortSignal | undefined;
  /** Of each step; four of them at most come one after the other. Default 5000. */
  readonly timeoutMs?: number | undefined;
  /** Default: the network of this machine. */
  readonly dial?: Dial | undefined;
  /** Default: the resolver of this machine. */
  readonly lookup?: Lookup | undefined;
  /** For the dates of certificates. Default: now. */
  readonly now?: Date | undefined;
  /** For timeouts. Default: the clock of the machine. */
  readonly clock?: Clock | undefined;
}

const DEFAULT_TIMEOUT_MS = 5000;

/**
 * Probes each hop, and gives the results of all of them in the order of the path.
 *
 * Hops behind `dns` dial the addresses of the edge, so that trouble with DNS does not hide the rest. With one address of
 * the edge three connections are opened, two of them at a time; how many probes run at once is for the caller to say.
 *
 * @throws the reason of the signal only.
 */
export async function probeExposure(
  target: ProbeTarget,
  options: ProbeOptions = {},
): Promise<readonly HopResult[]> {
  const { signal, timeoutMs = DEFAULT_TIMEOUT_MS, dial = dialTcp, now = new Date() } = options;
  const limits = { signal, timeoutMs, clock: options.clock };
  const resolve = async (name: string): Promise<Resolved> =>
    resolveHost(name, options.lookup ?? systemLookup, limits);

  const edge = await edgeAddresses(target, resolve);
  const resolving = resolveAll(hostsOf(target), resolve);
  const probing = async (addresses: readonly string[]): Promise<readonly HopResult[]> =>
    probeNetwork({ ...target, addresses }, { limits, dial, now });
  const [resolved, network] = await Promise.all([
    resolving,
    edge === undefined
      ? resolving.then(async (found) => probing(addressesIn(found.get(target.apiHost))))
      : probing(edge),
  ]);
  const dns = judgeDns(resolved, edge ?? []);
  if (dns.code !== 'DnsElsewhere') return withFacts(target, dns, network);
  const others = addressesIn(resolved.get(target.apiHost)).filter((one) => !edge?.includes(one));
  const hops = reachesTenant(network) ? network : await probeOthers(network, others, probing);
  return withFacts(target, judgeDns(resolved, edge ?? [], reachesTenant(hops)), hops);
}

function reachesTenant(network: readonly HopResult[]): boolean {
  return network.some(({ name, state }) => name === 'sni' && state === 'Pass');
}

/**
 * The tenant is not reachable at the addresses of the Edge, and DNS has others. Behind a NAT that does not lead back inside,
 * only the others work. If they do not work either, the results for the addresses of the Edge stand.
 */
async function probeOthers(
  network: readonly HopResult[],
  others: readonly string[],
  probing: (addresses: readonly string[]) => Promise<readonly HopResult[]>,
): Promise<readonly HopResult[]> {
  const failed = network.find(({ state }) => state === 'Fail');
  if (others.length === 0 || failed === undefined) return network;
  const found = await probing(others);
  if (!reachesTenant(found)) return network;
  const code = failed.name === 'edge' ? 'EdgeDegraded' : 'SniDegraded';
  const message = `${failed.message}; the tenant is reachable at ${others.join(', ')}, where DNS leads`;
  const degraded = hopResult(code, failed.target, message, { address: failed.target });
  return found.map((hop) => (hop.name === degraded.name ? degraded : hop));
}

function withFacts(
  target: ProbeTarget,
  dns: HopResult,
  network: readonly HopResult[],
): readonly HopResult[] {
  const facts = judgeFacts(target).map((hop) => withoutEcho(hop, network));
  return [dns, ...network, ...facts];
}

function hostsOf({ apiHost, konnectivityHost }: ProbeTarget): readonly string[] {
  return konnectivityHost === undefined ? [apiHost] : [apiHost, konnectivityHost];
}

/** The addresses of the edge, with those of its names in place of the names; nothing if the Edge does not say. */
async function edgeAddresses(
  { edgeAddresses: given }: ProbeTarget,
  resolve: (name: string) => Promise<Resolved>,
): Promise<readonly string[] | undefined> {
  if (given.length === 0) return undefined;
  const all = await Promise.all(
    given.map(async (one) => (ipVersion(one) === 0 ? addressesIn(await resolve(one)) : [one])),
  );
  return [...new Set(all.flat())];
}

async function resolveAll(
  hosts: readonly string[],
  resolve: (name: string) => Promise<Resolved>,
): Promise<ReadonlyMap<string, Resolved>> {
  return new Map(
    await Promise.all(hosts.map(async (host) => [host, await resolve(host)] as const)),
  );
}

function addressesIn(resolved: Resolved | undefined): readonly string[] {
  return resolved?.kind === 'addresses' ? resolved.addresses : [];
}

/** The hops of which only the tenant's own API can tell, where that could not be asked. */
export function tenantHopsUnasked(): readonly HopResult[] {
  const message = 'not looked at: the tenant could not be asked (see WorkersReady)';
  return [
    notLookedAt('endpoints', ENDPOINTS_TARGET, message),
    notLookedAt('proxies', PROXIES_TARGET, message),
  ];
}

/** A proxy is ready while the edge leads it to its tenant: where it does not, that is the cause. */
function withoutEcho(hop: HopResult, network: readonly HopResult[]): HopResult {
  const failed = network.find(({ name, state }) => state === 'Fail' && name !== 'konnectivity');
  return hop.code === 'ProxiesNotReady' && failed !== undefined
    ? skippedForSameCause(hop, `hop ${failed.name}`)
    : hop;
}

/** The hops that are judged by what is given, without a connection; none of what is not given. */
function judgeFacts(target: ProbeTarget): readonly HopResult[] {
  const { apiHost, port, endpoints, proxies, kubeconfig } = target;
  return [
    ...(endpoints === undefined ? [] : [judgeEndpoints(endpoints)]),
    ...(proxies === undefined ? [] : [judgeProxies(proxies)]),
    ...(kubeconfig === undefined ? [] : [judgeKubeconfig(kubeconfig, apiHost, port)]),
  ];
}
