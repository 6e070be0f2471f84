/**
 * Examines one Exposure: its plan, and every hop on the path to its tenant, probed from this machine.
 */
import type { Exposure } from '../../api/exposure.ts';
import type { Finding } from '../../api/finding.ts';
import { AccessError } from '../../kube/access/cluster-access.ts';
import { textAt } from '../../kube/unstructured.ts';
import { isKubeError, type KubeError } from '../../kube/kube-error.ts';
import { parseKubeconfig } from '../../kube/access/kubeconfig.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import type { DryRun } from '../../reconcile/dry-run.ts';
import type { Observation } from '../../reconcile/observe.ts';
import type { ObservedTenant } from '../../reconcile/tenant/tenant-outcome.ts';
import { TENANT_SELECTIONS } from '../../reconcile/tenant/link/tenant-view.ts';
import { HOPS, type HopName } from '../../probe/codes.ts';
import { notApplicable, notObserved, skippedAfter, type HopResult } from '../../probe/hop.ts';
import type { Lookup } from '../../probe/hops/dns.ts';
import { ENDPOINTS_TARGET, type EndpointsInput } from '../../probe/hops/endpoints.ts';
import type { PublishedKubeconfig } from '../../probe/hops/kubeconfig.ts';
import { PROXIES_TARGET, type ProxiesInput, type ProxyPod } from '../../probe/hops/proxies.ts';
import { AgentCheck, TRIED_NODES } from '../../probe/hops/agents.ts';
import { probeExposure, type ProbeTarget } from '../../probe/probe-exposure.ts';
import type { KnownAuthorities } from '../../probe/tls/authorities.ts';
import type { EndpointSlice } from '../../kube/endpoints/endpoint-slice.ts';
import { isChangingAddresses, type DaemonSetWithStatus } from '../../tenant/proxy-addresses.ts';
import { dedupeResults } from './dedupe.ts';
import { sentence } from '../../text/sentence.ts';

/** The result for one Exposure. */
export interface Examination {
  /** `namespace/name`. */
  readonly exposure: string;
  /** `host:port`; the host alone if the Edge is not known; absent where no host is known. */
  readonly endpoint?: string | undefined;
  readonly edge?: string | undefined;
  readonly driver?: string | undefined;
  readonly mode?: string | undefined;
  /** Whether the Exposure is being deleted. If so, nothing is probed. */
  readonly isBeingDeleted: boolean;
  /** In the order of the path; empty if there is no path to probe yet. */
  readonly hops: readonly HopResult[];
  readonly findings: readonly Finding[];
}

/** Dependencies of {@link examine}. */
interface ExaminationDeps {
  readonly signal: AbortSignal;
  /** Timeout of each step of a probe. */
  readonly timeoutMs: number;
  /** Returns the CAs of all tenants. Called only if a server has an unknown certificate. */
  readonly knownAuthorities: () => Promise<KnownAuthorities>;
  /** Default: the resolver of this machine. */
  readonly lookup?: Lookup | undefined;
}

/** Codes for a server whose certificate belongs to no tenant known so far. */
const UNKNOWN_PEER: ReadonlySet<string> = new Set(['EdgeTerminates', 'UnknownAuthority']);

/** The hops that every connection to the tenant's API takes. */
const PATH_TO_API: ReadonlySet<HopName> = new Set(['edge', 'sni', 'certificate', 'api'] as const);

/** The hops whose result depends on the DNS and the network of the machine that probes them. */
const PATH_FROM_HERE: ReadonlySet<HopName> = new Set([
  ...PATH_TO_API,
  ...(['dns', 'konnectivity'] as const),
]);

/** What to do if a hop fails here and passes for the operator. */
const CHECK_MACHINE =
  'The operator reached this tenant in its last probe. If this stays, check the network and the DNS of this machine, and whether a proxy intercepts TLS (docs/troubleshooting.md#start-here).';

/** Examines one Exposure. @throws the reason of the signal, KubeError of the management cluster */
export async function examine(run: DryRun, deps: ExaminationDeps): Promise<Examination> {
  const { object, resolved, plan, findings } = run;
  const about = {
    exposure: keyText(object.metadata),
    endpoint: plan?.endpoint ?? textAt(object, 'spec', 'hosts', 'api'),
    edge: resolved?.edge.metadata.name,
    driver: resolved?.edge.spec.driver,
    mode: plan?.mode,
    isBeingDeleted: object.metadata.deletionTimestamp !== undefined,
  };
  const target = await targetOf(run, deps.signal);
  if (target === undefined) return { ...about, hops: [], findings };
  const agents = new AgentCheck(() => tenantOf(run)?.client, TRIED_NODES);
  const found = await probe(target, agents, deps);
  const hops = [...found, ...unprobed(run, target, found)].map((hop) =>
    withLastReport(hop, object),
  );
  return { ...about, ...dedupeResults(hops.toSorted(byPath), findings) };
}

function byPath(a: HopResult, b: HopResult): number {
  const place = ({ name }: HopResult) => (HOPS as readonly HopName[]).indexOf(name);
  return place(a) - place(b);
}

async function probe(
  target: ProbeTarget,
  agents: AgentCheck,
  deps: ExaminationDeps,
): Promise<readonly HopResult[]> {
  const { signal, timeoutMs, lookup } = deps;
  const options = { signal, timeoutMs, lookup, agents };
  const hops = await probeExposure(target, options);
  if (!hops.some(({ code }) => UNKNOWN_PEER.has(code))) return hops;
  return probeExposure({ ...target, knownAuthorities: await deps.knownAuthorities() }, options);
}

/** What to probe, as far as it could be read. */
interface ReadTarget extends ProbeTarget {
  /** Why the proxies of a tenant could not be read, although the tenant had answered before. */
  readonly proxiesUnread?: KubeError | undefined;
}

/** Returns what to probe; undefined for an Exposure that cannot be routed, for which a finding says why. */
async function targetOf(run: DryRun, signal: AbortSignal): Promise<ReadTarget | undefined> {
  const { resolved, plan } = run;
  const { observation } = run.reconciled ?? {};
  if (resolved === undefined || observation === undefined) return undefined;
  if (plan?.hosts === undefined || plan.routes === undefined) return undefined;
  const apiHost = plan.hosts.api;
  return {
    apiHost,
    konnectivityHost: plan.routes.konnectivity?.host,
    port: resolved.edge.spec.port,
    edgeAddresses: observation.facts.edgeAddresses,
    tenantCa: observation.reading.controlPlane?.ca?.certificate,
    endpoints: endpointsFacts(run),
    ...(await proxiesRead(run, signal)),
    kubeconfig: publishedKubeconfig(observation, apiHost),
  };
}

/** Returns the observed tenant, if it answered. */
function tenantOf({ reconciled }: DryRun): ObservedTenant | undefined {
  return reconciled?.tenant?.observed;
}

function endpointsFacts(run: DryRun): EndpointsInput | undefined {
  const { plan } = run;
  const tenant = tenantOf(run);
  if (plan?.tenant === undefined || tenant === undefined) return undefined;
  const isSlice = (object: KubeObject): object is EndpointSlice =>
    object.kind === RESOURCES.endpointSlice.kind;
  return {
    planned: plan.tenant.filter(isSlice),
    live: tenant.live.filter(isSlice),
    isHandoverPending: (tenant.changes?.wanted ?? []).some(
      ({ desired, waits }) => isSlice(desired) && waits,
    ),
  };
}

async function proxiesRead(
  run: DryRun,
  signal: AbortSignal,
): Promise<Pick<ReadTarget, 'proxies' | 'proxiesUnread'>> {
  try {
    return { proxies: await proxiesFacts(run, signal) };
  } catch (error) {
    if (!isKubeError(error)) throw error;
    return { proxiesUnread: error };
  }
}

/** @throws KubeError of the tenant */
async function proxiesFacts(run: DryRun, signal: AbortSignal): Promise<ProxiesInput | undefined> {
  const { resolved, plan } = run;
  const tenant = tenantOf(run);
  if (plan?.tenant === undefined || tenant === undefined) return undefined;
  const isDaemonSet = (object: KubeObject): object is DaemonSetWithStatus =>
    object.kind === RESOURCES.daemonSet.kind;
  const daemonSet = tenant.live.find(isDaemonSet);
  const { desiredNumberScheduled = 0 } = daemonSet?.status ?? {};
  return {
    daemonSet,
    image: plan.tenant.find(isDaemonSet)?.spec.template.spec.containers[0]?.image ?? '',
    hasOldAddresses:
      daemonSet && resolved && isChangingAddresses(daemonSet, resolved.exposure.spec.worker),
    pods: (await unlessForbidden(podsOf(tenant, signal))) ?? [],
    nodes:
      desiredNumberScheduled > 0
        ? undefined
        : await unlessForbidden(tenant.client.count(RESOURCES.node, { signal })),
  };
}

async function podsOf(
  { client }: ObservedTenant,
  signal: AbortSignal,
): Promise<readonly ProxyPod[]> {
  const { items } = await client.list<ProxyPod>(RESOURCES.pod, {
    ...TENANT_SELECTIONS.pods,
    signal,
  });
  return items;
}

/** Returns undefined if the kubeconfig lacks permission. All other checks still run. */
async function unlessForbidden<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isKubeError(error, 'Forbidden')) return undefined;
    throw error;
  }
}

/**
 * Returns the kubeconfig that is published to users. Without a provider, the kubeconfig is meant for the operator and
 * may point anywhere. It counts as published only if it has the API host. With `endpoints` it never counts, because the
 * machine of the control plane itself may have that name.
 */
function publishedKubeconfig(
  { reading, resolved }: Observation,
  apiHost: string,
): PublishedKubeconfig | undefined {
  const { provided, kubeconfig } = reading;
  if (provided !== undefined) {
    return provided.publishedServer === undefined
      ? undefined
      : { server: provided.publishedServer };
  }
  const { endpoints } = resolved.exposure.spec.controlPlane;
  if (kubeconfig === undefined || endpoints !== undefined) return undefined;
  try {
    const { hostname } = new URL(parseKubeconfig(kubeconfig).server);
    return hostname === apiHost ? { text: kubeconfig } : undefined;
  } catch (error) {
    // A finding reports it.
    if (error instanceof AccessError) return undefined;
    throw error;
  }
}

/** Returns the hops that could not be checked, each with the reason. */
function unprobed(
  run: DryRun,
  { apiHost, port, kubeconfig, endpoints, proxies, proxiesUnread }: ReadTarget,
  hops: readonly HopResult[],
): readonly HopResult[] {
  const tenantRead = tenantOf(run);
  const cut = hops.find(({ name, state }) => state === 'Fail' && PATH_TO_API.has(name));
  const unknown =
    tenantRead === undefined
      ? 'the tenant was not queried, or did not answer (see the findings)'
      : 'the desired state is unknown (see the findings)';
  const proxiesWhy = proxiesUnread?.message ?? unknown;
  const tenant = [
    ...(endpoints === undefined ? [['endpoints', ENDPOINTS_TARGET, unknown] as const] : []),
    ...(proxies === undefined ? [['proxies', PROXIES_TARGET, proxiesWhy] as const] : []),
  ].map(([name, target, why]) =>
    tenantRead === undefined && cut !== undefined
      ? skippedAfter(name, target, cut.name)
      : notObserved(name, target, sentence(`Not checked: ${why}`)),
  );
  if (kubeconfig !== undefined) return tenant;
  const target = `https://${apiHost}:${port}`;
  const isPlain = run.reconciled?.observation.reading.provided === undefined;
  return [
    ...tenant,
    isPlain
      ? notApplicable('kubeconfig', target, 'There is no provider that publishes a kubeconfig.')
      : notObserved(
          'kubeconfig',
          target,
          'Not checked: the provider has not published a kubeconfig.',
        ),
  ];
}

/**
 * Adds what the operator last reported about a hop that cannot be checked from here, and about one that fails only from
 * here.
 */
function withLastReport(hop: HopResult, { metadata, ...object }: KubeObject): HopResult {
  const { status } = object as Partial<Exposure>;
  const known = status?.hops?.find(({ name }) => name === hop.name);
  if (known === undefined || known.state === 'Skip') return hop;
  const { state, reason, at } = known;
  const message = `${hop.message} The operator reports ${state} (${reason}) since ${at}.`;
  if (hop.code === 'NotObserved') return { ...hop, message };
  const isCurrent = status?.observedGeneration === metadata.generation;
  const failsOnlyHere = hop.state === 'Fail' && state === 'Pass' && isCurrent;
  // The API server of the tenant says that no agent is connected, no matter from where the doctor asks.
  const isOfTenant = hop.code === 'KonnectivityNoAgent';
  if (!failsOnlyHere || isOfTenant || !PATH_FROM_HERE.has(hop.name)) return hop;
  const { action } = hop;
  return { ...hop, message, action: `${CHECK_MACHINE}${action ? ` Otherwise: ${action}` : ''}` };
}
