/**
 * The tenant's part of a reconcile: acquire its Lease, observe, plan, apply.
 */
import { findingText, type Finding } from '../../api/finding.ts';
import type { Clock } from '../../clock/clock.ts';
import { backoffMs, type BackoffLimits } from '../../kube/backoff.ts';
import { isKubeError } from '../../kube/kube-error.ts';
import { keyText } from '../../kube/object.ts';
import { planTenant, type Plan } from '../../plan/plan.ts';
import type { ControlPlaneReading } from '../../providers/reading/read-control-plane.ts';
import { KeyFileError } from '../../wire/master-keys.ts';
import {
  conditionFalse,
  conditionPending,
  conditionPendingOnUser,
  type ConditionState,
} from '../conditions/condition-state.ts';
import { addExposureFinalizer, removeExposureFinalizer, TENANT_FINALIZER } from '../finalizers.ts';
import { observeTenant, type CredentialsSource, type Observation } from '../observe.ts';
import type { Poll } from '../poll-backoff.ts';
import type { ReconcileDeps } from '../reconcile-deps.ts';
import { credentialsFor } from './credentials.ts';
import type { TenantLink } from './link/tenant-link.ts';
import { TenantNotOwned } from './ownership/owned-client.ts';
import { ownedElsewhere, ownedHere } from './ownership/ownership-findings.ts';
import type { Ownership } from './ownership/tenant-ownership.ts';
import { observeRollout, pacedCondition, paceRollout } from './rollout.ts';
import { TenantNotInitialized } from './tenant-facts.ts';
import { tenantFault } from './tenant-fault.ts';
import { outcomeOf, type ObservedTenant, type TenantOutcome } from './tenant-outcome.ts';
import { applyTenantSide, areNeeded, tenantChanges } from './tenant-side.ts';

/** Delays until a tenant that does not answer is tried again. An event of its watches comes first. */
const UNREACHABLE: BackoffLimits = { firstMs: 10_000, maxMs: 120_000 };
/** A tenant that did not answer is first probed with a version request, with this timeout: many of them must not fill the queue. */
const VERSION_TIMEOUT_MS = 2_000;
/** A tenant that is owned but has no proxies may change hands soon. */
const WITHOUT_PROXIES: Poll = { reason: 'WithoutProxies', firstMs: 5_000 };
/** The Lease expired between two writes. */
const EXPIRED: Poll = { reason: 'LeaseExpired', firstMs: 1_000 };
/** The limit after a failure: what was read and written by then helps the next attempt. */
const FAILING_TIMEOUT_MS = 5_000;
const NOT_INITIALIZED: Poll = { reason: 'TenantNotInitialized', firstMs: 2_000 };
/** The gateway's keys are not watched: unusable ones are read again after this time. */
const NO_CREDENTIALS_MS = 60_000;

/** Everything that the steps below share. */
interface Task {
  /** Of the Exposure. */
  readonly key: string;
  readonly observation: Observation;
  /** As far as it can be made without the tenant. */
  readonly plan: Plan;
  readonly link: TenantLink;
  readonly deps: ReconcileDeps;
  /** For the management cluster: the time limit is the tenant's alone. */
  readonly signal: AbortSignal;
  /** Set once the tenant was read, for the outcome of a reconcile that fails later. */
  observed: ObservedTenant | undefined;
}

/** Reconciles the tenant as far as possible now. @throws what is not a fault of the tenant */
export async function reconcileTenant(
  observation: Observation,
  plan: Plan,
  deps: ReconcileDeps,
  signal: AbortSignal,
): Promise<TenantOutcome> {
  const { object, resolved, reading } = observation;
  const { links, clock, pacer, tenantTimeoutMs } = deps;
  const key = keyText(object.metadata);
  if (reading.kubeconfig === undefined) return { condition: noKubeconfig(reading), hops: [] };
  const isFailing = links.failuresOf(key) > 0;
  const timeoutMs = isFailing ? Math.min(tenantTimeoutMs, FAILING_TIMEOUT_MS) : tenantTimeoutMs;
  const boundedSignal = AbortSignal.any([signal, clock.timeoutSignal(timeoutMs)]);
  const address = {
    kubeconfig: reading.kubeconfig,
    addresses: reading.addresses,
    watchesNodes: resolved.exposure.spec.worker.address === 'Node',
    endpoint: plan.endpoint,
    edgeAddresses: observation.facts.edgeAddresses,
  };
  const link = await links.open(key, address, boundedSignal);
  if ('code' in link) return { condition: conditionFalse(link), hops: [] };
  const task: Task = {
    key,
    observation,
    plan,
    link,
    deps,
    signal,
    observed: undefined,
  };
  try {
    if (isFailing) await checkVersion(link, clock, boundedSignal);
    const outcome = await reconcileOwned(task, boundedSignal);
    links.answered(key);
    return outcome;
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof ManagementFailed) throw error.cause;
    if (error instanceof TenantNotOwned) return expired(error);
    if (error instanceof TenantNotInitialized) {
      link.reader.clear();
      return notInitialized(error);
    }
    links.failed(key);
    pacer.unreachable(key);
    const fault = tenantFault(link, error, boundedSignal);
    if (fault.code === 'InternalError') {
      const { stack } = error as Partial<Error>;
      deps.log.error('internal error', { exposure: key, error, stack });
    } else {
      deps.log.warn('tenant reconcile failed', { exposure: key, error });
    }
    const requeueAfterMs = backoffMs(links.failuresOf(key), deps.random(), UNREACHABLE);
    const condition = conditionFalse(fault);
    return { condition, hops: [], requeueAfterMs, observed: task.observed };
  }
}

async function checkVersion(
  { client }: TenantLink,
  clock: Clock,
  boundedSignal: AbortSignal,
): Promise<void> {
  const signal = AbortSignal.any([boundedSignal, clock.timeoutSignal(VERSION_TIMEOUT_MS)]);
  await client.version({ signal });
}

/** A call to the management cluster failed during the work for a tenant. */
class ManagementFailed extends Error {}

async function inManagement<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof KeyFileError) throw error; // a finding, not a fault
    throw new ManagementFailed('the management cluster failed', { cause: error });
  }
}

/** Observe, plan and apply, once the Lease is held. @throws KubeError, TenantNotInitialized, TenantNotOwned, ManagementFailed */
async function reconcileOwned(task: Task, signal: AbortSignal): Promise<TenantOutcome> {
  const { key, observation, link, deps } = task;
  const { pacer, clock } = deps;
  const before = await acquire(task, false, signal);
  if (before.kind !== 'Owned') return notOwned(before, task);
  // The previous owner may just have changed what was read before.
  if (before.isNew) link.reader.clear();

  const masterKeys = async () => inManagement(deps.masterKeys);
  const credentials: CredentialsSource = async (input) => credentialsFor({ ...input, masterKeys });
  const observed = await observeTenant(observation, task.plan, link, credentials, clock, signal);
  const { live, certificate, reissued, finding } = observed;

  const plan = planTenant(observation.resolved, task.plan, observed.facts);
  const known = { client: link.client, live, plan, reissued };
  task.observed = known;
  if (plan.tenant === undefined) {
    const condition = conditionFalse(finding ?? incomplete(plan, observation.reading));
    const requeueAfterMs = finding === undefined ? undefined : NO_CREDENTIALS_MS;
    return { condition, certificate, hops: [], requeueAfterMs, observed: known };
  }
  const changes = tenantChanges(plan.tenant, live);
  const withChanges = { ...known, changes };
  if (changes.obstacle !== undefined) {
    return { condition: conditionFalse(changes.obstacle), hops: [], observed: withChanges };
  }

  if (areNeeded(changes)) {
    // The Lease may have been deleted to hand the tenant over at once.
    const now = await acquire(task, true, signal);
    if (now.kind !== 'Owned') return notOwned(now, task);
  }
  const paced = paceRollout(key, changes, pacer);
  if (reissued !== undefined && !paced.keepsCredentials) {
    deps.log.info('proxy certificate issued', { exposure: key, reason: reissued });
  }
  const { after, retryInMs } = await link.writing(async () =>
    applyTenantSide(link, paced.changes, live, signal),
  );

  const { worker } = observation.resolved.exposure.spec;
  const planned = plan.tenant;
  const outcome = await outcomeOf({ planned, after, retryInMs, worker }, link, signal);
  observeRollout(key, planned, after, { worker, link, pacer });
  return {
    ...outcome,
    condition: pacedCondition(outcome.condition, paced.decision),
    certificate: paced.keepsCredentials ? undefined : certificate,
    observed: withChanges,
  };
}

/** Acquires the tenant's Lease, or confirms that it is held. @throws KubeError, TenantNotInitialized, ManagementFailed */
async function acquire(
  { key, observation, link, deps, signal: outer }: Task,
  confirm: boolean,
  signal: AbortSignal,
): Promise<Ownership> {
  const { leaseClient } = link;
  const hold = async () =>
    inManagement(async () =>
      addExposureFinalizer(deps, observation.object, TENANT_FINALIZER, outer),
    );
  try {
    const options = { beforeWrite: hold, confirm };
    const ownership = await deps.ownership.acquire(key, leaseClient, options, signal);
    if (ownership.kind !== 'Owned') return ownership;
    // The Lease may be from before another client removed the finalizer, or recreated the Exposure.
    return (await hold()) ? ownership : { kind: 'Deleting' };
  } catch (error) {
    // An API server creates the namespace within seconds of its start.
    if (!isKubeError(error, 'NotFound')) throw error;
    throw new TenantNotInitialized(leaseClient.server, 'Namespace kube-system');
  }
}

/** What an Exposure reports that does not own its tenant, and when it tries again. @throws ManagementFailed */
async function notOwned(
  ownership: Exclude<Ownership, { readonly kind: 'Owned' }>,
  { key, observation, link, deps, signal }: Task,
): Promise<TenantOutcome> {
  deps.pacer.unreachable(key);
  if (ownership.kind === 'Deleting') {
    return {
      condition: conditionPending('CleaningUp', 'The Exposure is being deleted.'),
      hops: [],
    };
  }
  // There is nothing to clean up in a tenant of another Exposure.
  await inManagement(async () =>
    removeExposureFinalizer(deps, observation.object, TENANT_FINALIZER, signal),
  );
  // Without proxies the owner has just begun, or is cleaning up and about to release the Lease.
  const poll = link.daemonSet === undefined ? WITHOUT_PROXIES : undefined;
  if (ownership.kind === 'Here') {
    return { condition: conditionFalse(ownedHere(ownership.exposure)), hops: [], poll };
  }
  const expiresAt = new Date(deps.clock.now().getTime() + ownership.expiresInMs);
  const finding = ownedElsewhere(ownership.holderIdentity, expiresAt);
  return { condition: conditionPendingOnUser(finding, findingText(finding)), hops: [], poll };
}

/** The Lease expired between two writes, as when this process was suspended. */
function expired({ message }: TenantNotOwned): TenantOutcome {
  const condition = conditionPending('TenantOwnedElsewhere', message);
  return { condition, hops: [], poll: EXPIRED };
}

function notInitialized({ message }: TenantNotInitialized): TenantOutcome {
  const action = 'Wait a few seconds.';
  const finding: Finding = { code: 'TenantNotInitialized', severity: 'error', message, action };
  return { condition: conditionPendingOnUser(finding, message), hops: [], poll: NOT_INITIALIZED };
}

function noKubeconfig({ findings }: ControlPlaneReading): ConditionState {
  const fault = findings.find(({ severity }) => severity === 'error');
  if (fault !== undefined) return conditionFalse(fault);
  return conditionPendingOnUser(
    {
      code: 'SecretMissing',
      severity: 'error',
      message: 'The tenant has no kubeconfig yet, so its state is unknown.',
      action: 'Wait for its provider, or set spec.controlPlane.kubeconfigSecretRef.',
    },
    'The tenant has no kubeconfig yet.',
  );
}

/** Why there is no plan for the tenant. */
function incomplete({ findings }: Plan, reading: ControlPlaneReading): Finding {
  return (
    findings.find(({ about, severity }) => about === 'tenant' && severity === 'error') ??
    reading.findings.find(({ severity }) => severity === 'error') ?? {
      code: 'WaitingForCondition',
      severity: 'error',
      message: 'The tenant is not fully known yet.',
      action: 'See the condition Prepared.',
    }
  );
}
