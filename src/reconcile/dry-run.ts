/**
 * What a reconcile of an Exposure would write, without writing it: the same reconcile, with clients that record.
 */
import type { ExposureStatus } from '../api/exposure.ts';
import type { Finding } from '../api/finding.ts';
import { systemClock } from '../clock/clock.ts';
import { previousRoutesFinding } from '../edges/previous-routes.ts';
import { Applier } from '../kube/apply/apply.ts';
import { RecordingObjectClient, type RecordedWrite } from '../kube/client/recording-client.ts';
import { keyText, type KubeObject } from '../kube/object.ts';
import { RESOURCES } from '../kube/resource.ts';
import { StatusWriter } from '../kube/status-writer.ts';
import type { ResolvedExposure } from '../management/exposure-index.ts';
import { ensureMasterKeys, GATEWAY_KEYS } from '../management/master-keys.ts';
import { changeOf, type ObjectChange } from '../plan/changes.ts';
import { placeholder } from '../plan/placeholder.ts';
import type { Plan } from '../plan/plan.ts';
import type { Cluster } from '../plan/render.ts';
import type { ControlPlaneReading } from '../providers/reading/read-control-plane.ts';
import type { Logger } from '../telemetry/log.ts';
import { DEFAULT_LEASE_DURATION_MS, newOwnerLease, ownerIdentity } from '../tenant/owner-lease.ts';
import { PROXY } from '../tenant/proxy-names.ts';
import { cleanUpExposure } from './clean-up/clean-up-exposure.ts';
import type { CleanupTime } from './clean-up/cleanup-deadline.ts';
import { TENANT_FINALIZER } from './finalizers.ts';
import { StepFailed } from './management-fault.ts';
import type { ObserveDeps } from './observe.ts';
import { RecordedManagement } from './recorded-management.ts';
import { RecordedTenant } from './tenant/recorded-tenant.ts';
import type { ExposurePreparation } from './preparation/prepare-exposure.ts';
import { Preparer } from './preparation/preparer.ts';
import { SecretRenewals } from './preparation/secret-renewals.ts';
import type { ReconcileDeps } from './reconcile-deps.ts';
import { reconcileExposure, type ExposureTracker, type Reconciled } from './reconcile-exposure.ts';
import { recordedChanges } from './recorded-changes.ts';
import { NOT_PROBED } from './report.ts';
import { connectToTenant } from './tenant/connect-to-tenant.ts';
import { TenantOwnership } from './tenant/ownership/tenant-ownership.ts';
import { RolloutPacer } from './tenant/rollout-pacing.ts';

/** What a dry run reads with. */
interface DryRunDeps extends ObserveDeps {
  /** Whether tenants are read. Default true; otherwise nothing is known about their side. */
  readonly readsTenants?: boolean;
  /** Default: {@link connectToTenant}. */
  readonly connectTenant?: typeof connectToTenant;
}

/** What the operator would do. */
export interface DryRun {
  /** The Exposure. */
  readonly object: KubeObject;
  /** Absent: the Exposure is being deleted, or cannot be resolved. */
  readonly resolved?: ResolvedExposure | undefined;
  /** Absent as well if the Exposure is being deleted. */
  readonly reconciled?: Reconciled | undefined;
  /** With the tenant's objects, as far as the tenant answered. */
  readonly plan?: Plan | undefined;
  /** What would change, in the order of the writes. */
  readonly changes: Readonly<Record<Cluster, readonly ObjectChange[]>>;
  /** The writes themselves, with everything that is in them. Secrets are readable. */
  readonly writes: Readonly<Record<Cluster, readonly RecordedWrite[]>>;
  /** What a person has to know. Severity `error`: not all of it can be done. */
  readonly findings: readonly Finding[];
  /** Why the proxies would get new credentials. */
  readonly reissued?: string | undefined;
}

/** How long a tenant may take: one that hangs must not delay the others. */
const TENANT_TIMEOUT_MS = 20_000;

const SILENT: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Nothing comes after a dry run. */
function untracked(): ExposureTracker {
  const ignore = () => {};
  return {
    staleSecrets: new Map(),
    dependsOn: ignore,
    observed: ignore,
    routed: ignore,
    probedPath: () => NOT_PROBED,
  };
}

/** The dry run for one Exposure. @throws KubeError of the management cluster */
export async function dryRun(
  object: KubeObject,
  deps: DryRunDeps,
  signal: AbortSignal,
): Promise<DryRun> {
  const run = new Run(withVersion(object), deps, signal);
  try {
    return object.metadata.deletionTimestamp === undefined
      ? await run.reconcile()
      : await run.cleanUp();
  } catch (error) {
    throw error instanceof StepFailed ? error.cause : error;
  } finally {
    run.close();
  }
}

/** An object of a file has no version. */
function withVersion(object: KubeObject): KubeObject {
  const { metadata } = object;
  return metadata.resourceVersion === undefined
    ? { ...object, metadata: { ...metadata, resourceVersion: '1' } }
    : object;
}

/** One dry run, with everything in it that a reconcile needs. */
class Run {
  readonly #object: KubeObject;
  readonly #key: string;
  readonly #signal: AbortSignal;
  readonly #client: RecordingObjectClient;
  readonly #connection: RecordedTenant;
  readonly #deps: ReconcileDeps;

  constructor(object: KubeObject, deps: DryRunDeps, signal: AbortSignal) {
    const { management: view, namespace, clock = systemClock } = deps;
    const { connectTenant = connectToTenant, readsTenants = true } = deps;
    this.#object = object;
    this.#key = keyText(object.metadata);
    this.#signal = signal;
    const client = new RecordingObjectClient(view.client, 'the management cluster');
    client.assume(RESOURCES.exposure, object);
    this.#client = client;
    const management = new RecordedManagement(view, client, this.#key);
    this.#connection = new RecordedTenant(this.#key, view.clusterId, connectTenant, clock);
    const ownership = new TenantOwnership({
      clusterId: () => this.#connection.clusterId,
      hasExposure: (key) => view.exposureIndex.has(key),
      durationMs: DEFAULT_LEASE_DURATION_MS,
      schedule: () => {},
      onChange: () => {},
      log: SILENT,
      clock,
      random: Math.random,
    });
    this.#connection.isOwned = (tenant) => ownership.isOwned(this.#key, tenant);
    const pacer = new RolloutPacer({
      maxConcurrent: 1,
      exposures: () => 1,
      clock,
      onChange: () => {},
    });
    // As if this were the only tenant: the rollouts of others only decide when it gets the new template.
    pacer.reconciled(this.#key);
    this.#deps = {
      management,
      namespace,
      proxyImage: deps.proxyImage,
      isGatewayHere: deps.isGatewayHere,
      isGatewayAt: deps.isGatewayAt,
      applier: new Applier(client, { clock }),
      onHostsReleased: () => {},
      preparer: new Preparer(client, { clock }),
      renewals: new SecretRenewals({ management, clock }),
      statuses: new StatusWriter<ExposureStatus>(client),
      events: { record: () => {} },
      readsTenants,
      links: this.#connection,
      ownership,
      pacer,
      masterKeys: async () => ensureMasterKeys(client, namespace, signal),
      tenantTimeoutMs: TENANT_TIMEOUT_MS,
      cleanupTimeoutMs: 0,
      log: SILENT,
      clock,
      random: Math.random,
    };
  }

  close(): void {
    this.#connection.close();
  }

  async reconcile(): Promise<DryRun> {
    const object = this.#object;
    const { value: resolved, finding } = this.#deps.management.exposureIndex.resolve(object);
    if (resolved === undefined) {
      return { object, changes: NONE, writes: NONE, findings: [finding] };
    }
    const tracker = untracked();
    const reconciled = await reconcileExposure(object, resolved, this.#deps, tracker, this.#signal);
    if (reconciled === undefined) {
      return { object, resolved, changes: NONE, writes: this.#writes, findings: [] };
    }
    const { fault } = reconciled.preparation;
    if (fault !== undefined) throw fault;
    const reissued = this.#reissued(reconciled);
    const plan = reconciled.tenant?.observed?.plan ?? reconciled.plan;
    return {
      object,
      resolved,
      reconciled,
      plan: { ...plan, tenant: plan.tenant && this.#shownTenant(plan.tenant, reissued) },
      changes: this.#changes(reconciled, reissued),
      writes: this.#writes,
      findings: this.#findings(reconciled, plan),
      reissued,
    };
  }

  async cleanUp(): Promise<DryRun> {
    const object = this.#object;
    const deps = this.#deps;
    const state = { deadline: { timeLeft: () => NODES_ARE_DONE }, staleSecrets: new Map() };
    const findings: Finding[] = [];
    let rest = deps.readsTenants ? object : withoutFinalizer(object, TENANT_FINALIZER);
    for (;;) {
      const waiting = await cleanUpExposure(rest, deps, state, this.#signal);
      if (waiting === undefined) break;
      if (waiting.fault !== undefined) throw waiting.fault;
      if (waiting.finding !== undefined) findings.push(waiting.finding);
      // What follows once the wait is over is shown too.
      rest = withoutFinalizer(rest, waiting.finalizer);
    }
    const changes = this.#changes(undefined, undefined);
    return { object, changes, writes: this.#writes, findings };
  }

  /** Why new credentials are issued. Without gateway keys, the dry run creates them. */
  #reissued({ tenant }: Reconciled): string | undefined {
    const { namespace } = this.#deps;
    const isCreated = this.#client.writes.some(
      ({ verb, after }) => verb === 'create' && after?.metadata.name === GATEWAY_KEYS.name,
    );
    return isCreated
      ? `Secret ${namespace}/${GATEWAY_KEYS.name}, which the operator creates, does not exist yet`
      : tenant?.observed?.reissued;
  }

  /** With the Lease, which is no part of the plan, and without credentials that exist in this dry run only. */
  #shownTenant(
    planned: readonly KubeObject[],
    reissued: string | undefined,
  ): readonly KubeObject[] {
    const identity = ownerIdentity(this.#connection.clusterId, this.#key);
    return [
      newOwnerLease(identity, DEFAULT_LEASE_DURATION_MS),
      ...planned.map((object) => withoutNewCredentials(object, reissued)),
    ];
  }

  get #writes(): Readonly<Record<Cluster, readonly RecordedWrite[]>> {
    return { management: this.#client.writes, tenant: this.#connection.writes };
  }

  #changes(
    reconciled: Reconciled | undefined,
    reissued: string | undefined,
  ): Readonly<Record<Cluster, readonly ObjectChange[]>> {
    const { tenant, reconciledRoutes } = reconciled ?? {};
    const shown = (write: RecordedWrite): RecordedWrite => ({
      ...write,
      ...(write.applied && { applied: withoutNewCredentials(write.applied, reissued) }),
    });
    const waiting = (tenant?.observed?.changes?.wanted ?? []).filter(({ waits }) => waits);
    const kept = reconciledRoutes?.previous ?? [];
    return {
      management: [
        ...recordedChanges(this.#client.writes.filter(isShown)),
        ...kept.map((object): ObjectChange => ({
          action: 'delete',
          object,
          fields: [],
          waits: true,
        })),
      ],
      tenant: [
        ...recordedChanges(this.#connection.writes.map(shown)),
        ...waiting.flatMap(({ desired, live }) => changeOf(desired, live, true)),
      ],
    };
  }

  #findings(
    { observation, preparation, reconciledRoutes, tenant }: Reconciled,
    plan: Plan,
  ): readonly Finding[] {
    const { resolved, reading } = observation;
    const kept = previousRoutesFinding(reconciledRoutes.previous, resolved.edge);
    return distinct([
      ...plan.findings,
      ...(resolved.warning === undefined ? [] : [resolved.warning]),
      ...preparationFindings(preparation),
      ...plannedReadingFindings(reading),
      ...(reconciledRoutes.obstacle === undefined ? [] : [reconciledRoutes.obstacle]),
      ...reconciledRoutes.findings,
      ...(tenant?.condition.finding === undefined ? [] : [tenant.condition.finding]),
      ...(kept === undefined ? [] : [kept]),
    ]);
  }
}

/**
 * The findings of reading a control plane. One that a chart creates only later is a warning: nothing has to be changed.
 */
export function plannedReadingFindings({
  findings,
  provided,
}: ControlPlaneReading): readonly Finding[] {
  return findings.map((finding) =>
    provided !== undefined && finding.code === 'ControlPlaneMissing'
      ? { ...finding, severity: 'warning' }
      : finding,
  );
}

/** The findings of a preparation. A chart cannot have passed on values that are only written now. */
function preparationFindings({ plans, findings }: ExposurePreparation): readonly Finding[] {
  if (plans.every(({ differing }) => differing.length === 0)) return findings;
  return findings.filter(
    ({ code, severity }) => code !== 'ChartValuesUnconfirmed' || severity !== 'error',
  );
}

const NONE = { management: [], tenant: [] };

/** As if every node had removed the virtual address: what follows is shown too. */
const NODES_ARE_DONE: CleanupTime = {
  waitedMs: 0,
  isHalfOver: false,
  leftMs: TENANT_TIMEOUT_MS,
  givesUpAt: new Date(0),
  addressIsLate: () => true,
};

/** The Exposure as it is once the step of a finalizer is done. */
function withoutFinalizer(object: KubeObject, finalizer: string): KubeObject {
  const finalizers = (object.metadata.finalizers ?? []).filter((present) => present !== finalizer);
  return { ...object, metadata: { ...object.metadata, finalizers } };
}

/** The gateway's keys belong to no Exposure. That a deleted Exposure is gone in the end is no news. */
function isShown({ resource, before, after }: RecordedWrite): boolean {
  if (resource.kind === RESOURCES.exposure.kind && after === undefined) return false;
  return (before ?? after)?.metadata.name !== GATEWAY_KEYS.name;
}

/** The Secret of the proxies with texts in place of credentials that the dry run has issued. */
function withoutNewCredentials(object: KubeObject, reissued: string | undefined): KubeObject {
  const { kind, metadata } = object;
  if (reissued === undefined || kind !== 'Secret' || metadata.name !== PROXY.name) return object;
  const { data = {} } = object as KubeObject & { readonly data?: Readonly<Record<string, string>> };
  const texts: Readonly<Record<string, string>> = {
    'tls.crt': placeholder(`a new certificate: ${reissued}`),
    'tls.key': placeholder('the key of the new one'),
    'tenant.key': placeholder(`a new key: ${reissued}`),
  };
  const shown = Object.entries(data).map(([name, value]) => {
    const text = texts[name];
    return [name, text === undefined ? value : Buffer.from(text).toString('base64')] as const;
  });
  const redacted = { ...object, data: Object.fromEntries(shown) };
  return redacted;
}

/** Each finding once: what keeps the control plane from being read keeps the tenant from being read too. */
function distinct(findings: readonly Finding[]): readonly Finding[] {
  const seen = new Set<string>();
  return findings.filter(({ code, message }) => {
    const text = `${code} ${message}`;
    if (seen.has(text)) return false;
    seen.add(text);
    return true;
  });
}
