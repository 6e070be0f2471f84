/**
 * One look at the tenant of an Exposure: read it, plan for it, apply, and say how it is.
 */
import type { Clock } from '../../clock/clock.ts';
import type { Applier } from '../../kube/apply/apply.ts';
import { backoffMs, type BackoffLimits } from '../../kube/backoff.ts';
import { findingText, type Finding } from '../../api/finding.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import type { ControlPlaneReading } from '../../providers/reading/read-control-plane.ts';
import type { Logger } from '../../telemetry/log.ts';
import { fails, waits, type ConditionState } from '../conditions/condition-state.ts';
import { observeTenant, type CredentialsSource, type Observation } from '../observe.ts';
import type { MasterKeys } from '../../management/master-keys.ts';
import { credentialsFor } from './credentials.ts';
import { TenantNotInitialised } from './tenant-facts.ts';
import { tenantFault } from './tenant-fault.ts';
import { pacedOutcome, paceRollout } from './rollout.ts';
import type { RolloutPacer } from './rollout-pacing.ts';
import type { TenantLink } from './link/tenant-link.ts';
import type { TenantLinks } from './link/tenant-links.ts';
import { outcomeOf, type TenantOutcome } from './tenant-outcome.ts';
import { ownedElsewhere, ownedHere } from './ownership/ownership-findings.ts';
import { TenantNotOwned } from './ownership/owned-client.ts';
import type { Ownership, TenantOwnership } from './ownership/tenant-ownership.ts';
import { applyTenantSide, areNeeded, tenantChanges } from './tenant-side.ts';

/** What there is to bring. */
export interface TenantTask extends Observation {
  /** Of the Exposure. */
  readonly key: string;
  /** Called before the first write: from now on the tenant has to be cleaned up. False: it is too late to begin. */
  readonly hold: () => Promise<boolean>;
  /** Called when the tenant belongs to another Exposure: there is nothing to clean up in it. */
  readonly letGo: () => Promise<void>;
}

/** What it takes. */
export interface TenantMeans {
  readonly links: TenantLinks;
  readonly applierFor: (link: TenantLink) => Applier;
  readonly masterKeys: () => Promise<MasterKeys>;
  readonly log: Logger;
  /** Of one look: a tenant that hangs must not hold up the others. */
  readonly tenantTimeoutMs: number;
  readonly ownership: TenantOwnership;
  readonly clock: Clock;
  /** From 0 to 1, for the spread of delays. */
  readonly random: () => number;
  /** The rollouts of all tenants. */
  readonly pacer: RolloutPacer;
}

/** A tenant that does not answer is asked again so soon; what its watches find changed asks sooner. */
const UNREACHABLE: BackoffLimits = { firstMs: 10_000, maxMs: 120_000 };
/** One that did not answer is first asked for its version, no longer than this: many of them must not fill the queue. */
const KNOCK_MS = 2_000;
/** A tenant that is owned but has no proxies may change hands soon. */
const WITHOUT_PROXIES_MS = 5_000;
/** Until the next attempt after the Lease expired between two writes. */
const EXPIRED_MS = 1_000;
/** Then its look may take so long: what was read and written by then is a beginning for the next one. */
const FAILING_LOOK_MS = 5_000;

/** Brings the tenant's side about, as far as that can be done now. @throws what is not the tenant's fault */
export async function reconcileTenant(
  task: TenantTask,
  means: TenantMeans,
  signal: AbortSignal,
): Promise<TenantOutcome> {
  const { key, wish, reading } = task;
  const { kubeconfig, addresses } = reading;
  if (kubeconfig === undefined) return { condition: noKubeconfig(reading), hops: [] };
  const link = means.links.open(key, {
    ...{ kubeconfig, addresses },
    watchesNodes: wish.exposure.spec.worker.address === 'Node',
  });
  if ('code' in link) return { condition: fails(link), hops: [] };
  const isFailing = means.links.failuresOf(key) > 0;
  const { tenantTimeoutMs } = means;
  const timeoutMs = isFailing ? Math.min(tenantTimeoutMs, FAILING_LOOK_MS) : tenantTimeoutMs;
  const inTime = AbortSignal.any([signal, means.clock.timeoutSignal(timeoutMs)]);
  try {
    if (isFailing) await knock(link, means.clock, inTime);
    const outcome = await look(task, link, means, inTime);
    means.links.answered(key);
    return outcome;
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof NotTheTenants) throw error.cause;
    if (error instanceof TenantNotOwned) return expired(error);
    if (error instanceof TenantNotInitialised) {
      link.reader.clear();
      return {
        condition: waits('TenantNotInitialised', error.message),
        hops: [],
        requeueAfterMs: 2_000,
      };
    }
    means.links.failed(key);
    means.pacer.unreachable(key);
    means.log.warn('a tenant cannot be brought up to date', { exposure: key, error });
    const requeueAfterMs = backoffMs(means.links.failuresOf(key), means.random(), UNREACHABLE);
    return { condition: fails(tenantFault(link, error, inTime)), hops: [], requeueAfterMs };
  }
}

async function knock({ client }: TenantLink, clock: Clock, inTime: AbortSignal): Promise<void> {
  const signal = AbortSignal.any([inTime, clock.timeoutSignal(KNOCK_MS)]);
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
  const before = await ownershipOf(task, link, means, false, signal);
  if (before.kind !== 'Owned') {
    means.pacer.unreachable(key);
    return notOwned(before, task, link, means.clock);
  }
  // The previous owner may have written or removed a moment ago what was read before.
  if (before.isNew) link.reader.clear();
  const masterKeys = async () => notTheTenants(means.masterKeys);
  const credentials: CredentialsSource = async (input) => credentialsFor({ ...input, masterKeys });
  const looked = await observeTenant(task, link, credentials, signal, means.clock);
  const { plan, live, certificate, finding, reissued } = looked;
  const wrong =
    finding ??
    plan.findings.find(({ about, severity }) => about === 'tenant' && severity === 'error');
  if (plan.tenant === undefined) {
    const condition = wrong === undefined ? fails(incomplete(reading)) : fails(wrong);
    return { condition, certificate, hops: [] };
  }
  const changes = tenantChanges(plan.tenant, live);
  if (changes.obstacle !== undefined) return { condition: fails(changes.obstacle), hops: [] };
  if (areNeeded(changes)) {
    // The Lease may have been deleted, to hand the tenant over at once.
    const now = await ownershipOf(task, link, means, true, signal);
    if (now.kind !== 'Owned') {
      means.pacer.unreachable(key);
      return notOwned(now, task, link, means.clock);
    }
  }
  if (reissued !== undefined) {
    means.log.info('a new certificate for the proxies', { exposure: key, because: reissued });
  }
  const { pacer } = means;
  const paced = paceRollout(key, changes, pacer);
  const { after, retryInMs } = await link.writing(async () =>
    applyTenantSide(link, means.applierFor(link), paced.changes, live, signal),
  );
  const { worker } = task.wish.exposure.spec;
  const planned = plan.tenant;
  const outcome = await outcomeOf({ planned, after, retryInMs, worker }, link, signal);
  const { decision } = paced;
  const hasOwnImage = worker.image !== undefined;
  const rollout = { pacer, decision, planned, after, link, hasOwnImage };
  return { ...pacedOutcome(key, outcome, rollout), certificate };
}

/** Acquires the tenant's Lease, or confirms that it is held. @throws KubeError, TenantNotInitialised */
async function ownershipOf(
  { key, hold }: TenantTask,
  { leaseClient }: TenantLink,
  { ownership }: TenantMeans,
  confirm: boolean,
  signal: AbortSignal,
): Promise<Ownership> {
  const beforeWrite = async () => notTheTenants(hold);
  try {
    return await ownership.acquire(key, leaseClient, { beforeWrite, confirm }, signal);
  } catch (error) {
    // An API server creates the namespace within seconds of its start.
    if (!isKubeError(error, 'NotFound')) throw error;
    throw new TenantNotInitialised(leaseClient.server, 'Namespace kube-system');
  }
}

/** What an Exposure reports that does not own its tenant, and when it tries again. */
async function notOwned(
  ownership: Exclude<Ownership, { readonly kind: 'Owned' }>,
  { letGo }: TenantTask,
  link: TenantLink,
  clock: Clock,
): Promise<TenantOutcome> {
  if (ownership.kind === 'Deleting') {
    return { condition: waits('Leaving', 'the Exposure is being deleted'), hops: [] };
  }
  await notTheTenants(letGo);
  // Without proxies the owner has just begun, or is cleaning up and about to release the Lease.
  const soonMs = link.daemonSet === undefined ? WITHOUT_PROXIES_MS : undefined;
  if (ownership.kind === 'Here') {
    const condition = fails(ownedHere(ownership.exposure));
    return { condition, hops: [], requeueAfterMs: soonMs };
  }
  const expiresAt = new Date(clock.now().getTime() + ownership.expiresInMs);
  const finding = ownedElsewhere(ownership.holderIdentity, expiresAt);
  return { condition: waits(finding.code, findingText(finding)), hops: [], requeueAfterMs: soonMs };
}

/** The Lease expired between two writes, as when this process was suspended. */
function expired({ message }: TenantNotOwned): TenantOutcome {
  const condition = waits('TenantOwnedElsewhere', message);
  return { condition, hops: [], requeueAfterMs: EXPIRED_MS };
}

function noKubeconfig({ findings }: ControlPlaneReading): ConditionState {
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
