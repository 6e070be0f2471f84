/**
 * One look at the tenant of an Exposure: read it, plan for it, apply, and say how it is.
 */
import type { ExposureStatus } from '../../api/exposure.ts';
import type { Applier } from '../../kube/apply.ts';
import { backoffMs, type BackoffLimits } from '../../kube/backoff.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import type { Finding } from '../../api/finding.ts';
import type { HopResult } from '../../probe/hop.ts';
import { judgeEndpoints } from '../../probe/hops/endpoints.ts';
import { judgeProxies, type ProxiesFacts } from '../../probe/hops/proxies.ts';
import type { ControlPlaneReading } from '../../providers/read-control-plane.ts';
import type { EndpointSlice } from '../../tenant/endpoint-slice.ts';
import type { Logger } from '../../telemetry/log.ts';
import { areMoving, type DaemonSetWithStatus } from '../../tenant/proxy-addresses.ts';
import { fails, holds, waits, type Verdict } from '../exposure/verdicts.ts';
import { lookAtTenant, type CredentialsSource, type Look } from '../look.ts';
import type { ManagementView } from '../management/management-view.ts';
import type { MasterKeys } from '../master-keys.ts';
import { credentialsFor } from './credentials.ts';
import { TenantNotInitialised } from './tenant-facts.ts';
import { hasYielded } from './tenant-claim.ts';
import { tenantFault } from './tenant-fault.ts';
import type { TenantLink } from './tenant-link.ts';
import type { TenantLinks } from './tenant-links.ts';
import { applyTenantSide, tenantChanges } from './tenant-side.ts';

/** What there is to bring. */
export interface TenantTask extends Look {
  /** Of the Exposure. */
  readonly key: string;
  /** As the status was. */
  readonly before: ExposureStatus | undefined;
  /** Called before the first write: from now on the tenant has to be cleaned up. False: it is too late to begin. */
  readonly hold: () => Promise<boolean>;
}

/** What it takes. */
export interface TenantMeans {
  readonly links: TenantLinks;
  readonly applierFor: (link: TenantLink) => Applier;
  readonly masterKeys: () => Promise<MasterKeys>;
  readonly log: Logger;
  /** Of one look: a tenant that hangs must not hold up the others. */
  readonly tenantTimeoutMs: number;
  readonly management: Pick<ManagementView, 'book'>;
}

/** How the tenant's side is. */
export interface TenantOutcome {
  readonly verdict: Verdict;
  /** The hops that are judged by what the tenant's API says. */
  readonly hops: readonly HopResult[];
  readonly proxies?: { readonly ready: number; readonly desired: number } | undefined;
  readonly certificate?: ExposureStatus['certificate'];
  /** When to look again, sooner than usual. */
  readonly lookAgainMs?: number | undefined;
}

/** A tenant that does not answer is asked again so soon; what its watches find changed asks sooner. */
const UNREACHABLE: BackoffLimits = { firstMs: 10_000, maxMs: 120_000 };
/** One that did not answer is first asked for its version, no longer than this: many of them must not fill the queue. */
const KNOCK_MS = 2_000;
/** Then its look may take so long: what was read and written by then is a beginning for the next one. */
const FAILING_LOOK_MS = 5_000;
/** A tenant without proxies is looked at again so soon. */
const EMPTY_MS = 120_000;
/** What does not get well without somebody's doing. */
const NOT_BY_ITSELF: ReadonlySet<string> = new Set(['NoNodeSelected', 'ProxiesStuck']);

/** Brings the tenant's side about, as far as that can be done now. @throws what is not the tenant's fault */
export async function bringTenant(
  task: TenantTask,
  means: TenantMeans,
  signal: AbortSignal,
): Promise<TenantOutcome> {
  const { key, wish, reading } = task;
  const { kubeconfig, addresses } = reading;
  if (kubeconfig === undefined) return { verdict: noKubeconfig(reading), hops: [] };
  const link = means.links.open(key, {
    ...{ kubeconfig, addresses },
    watchesNodes: wish.exposure.spec.worker.address === 'node',
  });
  if ('code' in link) return { verdict: fails(link), hops: [] };
  const isFailing = means.links.failuresOf(key) > 0;
  const { tenantTimeoutMs } = means;
  const timeoutMs = isFailing ? Math.min(tenantTimeoutMs, FAILING_LOOK_MS) : tenantTimeoutMs;
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    if (isFailing) await knock(link, inTime);
    const outcome = await look(task, link, means, inTime);
    means.links.answered(key);
    return outcome;
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof NotTheTenants) throw error.cause;
    if (error instanceof TenantNotInitialised) {
      link.reader.clear();
      return {
        verdict: waits('TenantNotInitialised', error.message),
        hops: [],
        lookAgainMs: 2_000,
      };
    }
    means.links.failed(key);
    means.log.warn('a tenant cannot be brought up to date', { exposure: key, error });
    const lookAgainMs = backoffMs(means.links.failuresOf(key), Math.random(), UNREACHABLE);
    return { verdict: fails(tenantFault(link, error, inTime)), hops: [], lookAgainMs };
  }
}

async function knock({ client }: TenantLink, inTime: AbortSignal): Promise<void> {
  const signal = AbortSignal.any([inTime, AbortSignal.timeout(KNOCK_MS)]);
  await client.version({ signal });
}

/** A call to the management cluster failed, in the middle of work for a tenant. */
class NotTheTenants extends Error {}

async function notTheTenants<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw new NotTheTenants('the management cluster failed', { cause: error });
  }
}

async function look(
  task: TenantTask,
  link: TenantLink,
  means: TenantMeans,
  signal: AbortSignal,
): Promise<TenantOutcome> {
  const { key, reading } = task;
  const masterKeys = async () => notTheTenants(means.masterKeys);
  const credentials: CredentialsSource = async (input) => credentialsFor({ ...input, masterKeys });
  const looked = await lookAtTenant(task, link, credentials, signal);
  const { plan, live, certificate, finding, reissued } = looked;
  const wrong =
    finding ??
    plan.findings.find(({ about, severity }) => about === 'tenant' && severity === 'error');
  if (plan.tenant === undefined) {
    const verdict = wrong === undefined ? fails(incomplete(reading)) : fails(wrong);
    return { verdict, certificate, hops: [] };
  }
  const { book } = means.management;
  const changes = tenantChanges(plan.tenant, live, {
    isExposure: (exposure) => book.has(exposure),
    rival: (own, there) => link.claim.rival(own, there, hasYielded(task.before)),
  });
  if (changes.obstacle !== undefined) return { verdict: fails(changes.obstacle), hops: [] };
  if (reissued !== undefined) {
    means.log.info('a new certificate for the proxies', { exposure: key, because: reissued });
  }
  if (!(await notTheTenants(task.hold))) {
    return { verdict: waits('Leaving', 'the Exposure is being deleted'), hops: [] };
  }
  const { after, retryInMs } = await link.writing(async () =>
    applyTenantSide(link, means.applierFor(link), changes, live, signal),
  );
  link.claim.wrote(live, after);
  const daemonSet = after.find(isDaemonSet);
  const nodes = await countOfNodes(link, daemonSet, signal);
  const rolloutLeftMs = daemonSet && link.rolloutLeftMs(daemonSet);
  const judged = judge(link, plan.tenant, after, {
    ...{ nodes, isStuck: rolloutLeftMs === 0 },
    areMoving: daemonSet && areMoving(daemonSet, task.wish.exposure.spec.worker),
  });
  const soon = [
    retryInMs,
    rolloutLeftMs === 0 ? undefined : rolloutLeftMs,
    // Nodes that no proxy is wanted on join without a change to the DaemonSet, which is watched.
    nodes === undefined ? undefined : EMPTY_MS,
  ].filter((ms) => ms !== undefined);
  const lookAgainMs = soon.length === 0 ? undefined : Math.min(...soon);
  return { ...judged, certificate, lookAgainMs };
}

/** Asked for only where no proxy is wanted: whether that is for want of nodes. Undefined: it does not matter. */
async function countOfNodes(
  { client, nodes }: TenantLink,
  daemonSet: DaemonSetWithStatus | undefined,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { observedGeneration = 0, desiredNumberScheduled = 0 } = daemonSet?.status ?? {};
  const isObserved = observedGeneration >= (daemonSet?.metadata.generation ?? 1);
  if (!isObserved || desiredNumberScheduled > 0) return undefined;
  if (nodes !== undefined) return nodes.list().length;
  try {
    return await client.count(RESOURCES.node, { signal });
  } catch (error) {
    // A kubeconfig with few rights is enough for everything else.
    if (isKubeError(error, 'Forbidden')) return 0;
    throw error;
  }
}

/** How it is right after an apply: by the watches, a DaemonSet that was just changed would still look rolled out. */
function judge(
  link: TenantLink,
  planned: readonly KubeObject[],
  after: readonly KubeObject[],
  more: Pick<ProxiesFacts, 'nodes' | 'isStuck' | 'areMoving'>,
): TenantOutcome {
  const slices = planned.filter((object) => isSlice(object));
  const wanted = planned.find(isDaemonSet);
  const daemonSet = after.find(isDaemonSet);
  const endpoints = judgeEndpoints({
    ...{ planned: slices, live: after.filter((object) => isSlice(object)) },
  });
  const proxies = judgeProxies({
    ...{ daemonSet, ...more },
    ...(link.pods !== undefined && { pods: link.pods.list() }),
    image: wanted?.spec.template.spec.containers[0]?.image ?? '',
  });
  const ready = daemonSet?.status?.numberReady ?? 0;
  const desired = daemonSet?.status?.desiredNumberScheduled ?? 0;
  return {
    verdict: verdictOf(endpoints, proxies, desired),
    hops: [endpoints, proxies],
    proxies: { ready, desired },
  };
}

function verdictOf(endpoints: HopResult, proxies: HopResult, desired: number): Verdict {
  const failed = [endpoints, proxies].find(({ state }) => state === 'Fail');
  if (failed !== undefined) {
    const { code, message, action } = failed;
    const waiting = waits(code, action === undefined ? message : `${message}; ${action}`);
    return NOT_BY_ITSELF.has(code) ? { ...waiting, isWaiting: false } : waiting;
  }
  return desired === 0
    ? holds('NoNodes', 'the tenant has no nodes yet; each gets its proxy when it joins')
    : holds(proxies.code, proxies.message);
}

function isSlice(object: KubeObject): object is EndpointSlice {
  return object.kind === RESOURCES.endpointSlice.kind;
}

function isDaemonSet(object: KubeObject): object is DaemonSetWithStatus {
  return object.kind === RESOURCES.daemonSet.kind;
}

function noKubeconfig({ findings }: ControlPlaneReading): Verdict {
  const [first] = findings;
  return first === undefined
    ? waits('KubeconfigMissing', 'there is no kubeconfig of the tenant yet')
    : fails(first);
}

function incomplete({ findings }: ControlPlaneReading): Finding {
  return (
    findings[0] ?? {
      ...{ code: 'FactsMissing', severity: 'error' },
      message: 'not everything is known of the tenant yet',
      action: 'see the condition Prepared',
    }
  );
}
