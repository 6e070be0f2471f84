/**
 * Probes all hops on the path to one tenant.
 */
import type { Clock } from '../clock/clock.ts';
import { dialTcp, type Dial } from './dial.ts';
import type { AgentCheck } from './hops/agents.ts';
import { hopResult, notObserved, skippedForSameCause, type HopResult } from './hop.ts';
import { judgeDns, resolveHost, type Lookup, type Resolved } from './hops/dns.ts';
import { systemLookup } from './hops/system-lookup.ts';
import { ENDPOINTS_TARGET, judgeEndpoints, type EndpointsInput } from './hops/endpoints.ts';
import { judgeKubeconfig, type PublishedKubeconfig } from './hops/kubeconfig.ts';
import { judgeProxies, PROXIES_TARGET, type ProxiesInput } from './hops/proxies.ts';
import { ipVersion } from '../wire/ip-address.ts';
import { probeNetwork, type NetworkOptions } from './network.ts';
import type { KnownAuthorities } from './tls/authorities.ts';

/** What to probe. Hops of absent fields are omitted. */
export interface ProbeTarget {
  readonly apiHost: string;
  readonly konnectivityHost?: string | undefined;
  /** The port of the edge that clients dial. */
  readonly port: number;
  /** IP addresses, or names as of load balancers. If empty, the addresses of the API host are dialed. */
  readonly edgeAddresses: readonly string[];
  /** PEM. Undefined if unknown: then hops that need it are skipped. */
  readonly tenantCa: string | undefined;
  /** The CAs of other tenants. Default: other tenants cannot be distinguished from the edge. */
  readonly knownAuthorities?: KnownAuthorities | undefined;
  readonly endpoints?: EndpointsInput | undefined;
  readonly proxies?: ProxiesInput | undefined;
  /** The kubeconfig that the provider publishes. */
  readonly kubeconfig?: PublishedKubeconfig | undefined;
}

/** Options of {@link probeExposure}. */
export interface ProbeOptions {
  /** Checks whether an agent is connected to konnectivity-server. Default: only the server is checked. */
  readonly agents?: AgentCheck | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The timeout of each step. At most five steps run one after the other. Default 5000. */
  readonly timeoutMs?: number | undefined;
  /** Default: the network of this machine. */
  readonly dial?: Dial | undefined;
  /** Default: the resolver of this machine. */
  readonly lookup?: Lookup | undefined;
  /** The time for certificate validity. Default: now. */
  readonly now?: Date | undefined;
  /** For timeouts. Default: the system clock. */
  readonly clock?: Clock | undefined;
}

const DEFAULT_TIMEOUT_MS = 5000;

/**
 * Probes each hop, and returns all results in the order of the path.
 *
 * Hops behind `dns` dial the addresses of the edge, so that DNS problems do not hide others. With one edge address,
 * three connections are opened, two of them concurrently. The caller limits the number of concurrent probes.
 *
 * @throws only the reason of the signal.
 */
export async function probeExposure(
  target: ProbeTarget,
  options: ProbeOptions = {},
): Promise<readonly HopResult[]> {
  const { signal, timeoutMs = DEFAULT_TIMEOUT_MS, dial = dialTcp, now = new Date() } = options;
  const limits = { signal, timeoutMs, clock: options.clock };
  const hops = await probePath(target, options, { limits, dial, now });
  return Promise.all(
    hops.map(async (hop) =>
      hop.name === 'konnectivity' && hop.state === 'Pass' && options.agents !== undefined
        ? options.agents.complete(hop, limits)
        : hop,
    ),
  );
}

async function probePath(
  target: ProbeTarget,
  options: ProbeOptions,
  network: NetworkOptions,
): Promise<readonly HopResult[]> {
  const { limits } = network;
  const resolve = async (name: string): Promise<Resolved> =>
    resolveHost(name, options.lookup ?? systemLookup, limits);

  const edge = await edgeAddresses(target, resolve);
  const resolving = resolveAll(hostsOf(target), resolve);
  const probing = async (addresses: readonly string[]): Promise<readonly HopResult[]> =>
    probeNetwork({ ...target, addresses }, network);
  const [resolved, probed] = await Promise.all([
    resolving,
    edge === undefined
      ? resolving.then(async (found) => probing(addressesIn(found.get(target.apiHost))))
      : probing(edge),
  ]);
  const dns = judgeDns(resolved, edge ?? []);
  if (dns.code !== 'DnsWrongAddress') return withInputs(target, dns, probed);
  const others = addressesIn(resolved.get(target.apiHost)).filter(
    (address) => !edge?.includes(address),
  );
  const hops = reachesTenant(probed) ? probed : await probeOthers(probed, others, probing);
  return withInputs(target, judgeDns(resolved, edge ?? [], reachesTenant(hops)), hops);
}

function reachesTenant(network: readonly HopResult[]): boolean {
  return network.some(({ name, state }) => name === 'sni' && state === 'Pass');
}

/**
 * Probes the other addresses from DNS if the tenant is not reachable at those of the Edge. Behind a NAT without
 * hairpinning, only the others work. If they do not work either, returns the results for the addresses of the Edge.
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
  const name = failed.name === 'edge' ? 'edge' : 'sni';
  const message = `${failed.message} The tenant is reachable at ${others.join(', ')}, to which DNS points.`;
  const degraded = hopResult(name, 'Degraded', failed.target, message, { address: failed.target });
  return found.map((hop) => (hop.name === name ? degraded : hop));
}

function withInputs(
  target: ProbeTarget,
  dns: HopResult,
  network: readonly HopResult[],
): readonly HopResult[] {
  const facts = judgeInputs(target).map((hop) => withoutConsequence(hop, network));
  return [dns, ...network, ...facts];
}

function hostsOf({ apiHost, konnectivityHost }: ProbeTarget): readonly string[] {
  return konnectivityHost === undefined ? [apiHost] : [apiHost, konnectivityHost];
}

/** Returns the addresses of the edge, with names resolved. Undefined if the Edge has none. */
async function edgeAddresses(
  { edgeAddresses: configured }: ProbeTarget,
  resolve: (name: string) => Promise<Resolved>,
): Promise<readonly string[] | undefined> {
  if (configured.length === 0) return undefined;
  const all = await Promise.all(
    configured.map(async (address) =>
      ipVersion(address) === 0 ? addressesIn(await resolve(address)) : [address],
    ),
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

/** Returns the results of the hops that need the tenant's API, if that was not reachable. */
export function tenantHopsNotObserved(): readonly HopResult[] {
  const message = 'Not checked because the tenant could not be reached (see WorkersReady).';
  return [
    notObserved('endpoints', ENDPOINTS_TARGET, message),
    notObserved('proxies', PROXIES_TARGET, message),
  ];
}

/**
 * Replaces unready proxies by a skip if a network hop failed: a proxy is ready only if the edge routes it to its
 * tenant, so the failed hop is the cause.
 */
function withoutConsequence(hop: HopResult, network: readonly HopResult[]): HopResult {
  const failed = network.find(({ name, state }) => state === 'Fail' && name !== 'konnectivity');
  return hop.code === 'ProxiesNotReady' && failed !== undefined
    ? skippedForSameCause(hop, `hop ${failed.name}`)
    : hop;
}

/** Returns the results that need no connection, for the facts that are given. */
function judgeInputs(target: ProbeTarget): readonly HopResult[] {
  const { apiHost, port, endpoints, proxies, kubeconfig } = target;
  return [
    ...(endpoints === undefined ? [] : [judgeEndpoints(endpoints)]),
    ...(proxies === undefined ? [] : [judgeProxies(proxies)]),
    ...(kubeconfig === undefined ? [] : [judgeKubeconfig(kubeconfig, apiHost, port)]),
  ];
}
