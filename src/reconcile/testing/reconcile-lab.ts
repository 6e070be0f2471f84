/**
 * For tests only: reconciles, cleanups and dry runs of Exposure `tenants/blue` between two API servers in memory.
 *
 * Each of them reads both clusters again, as an operator does that has just started. Only the Lease of the tenant stays
 * held between two reconciles of one operator. Time stands still unless a test moves the clock.
 */
import type { ExposureStatus } from '../../api/exposure.ts';
import { ManualClock } from '../../clock/manual-clock.ts';
import { Applier } from '../../kube/apply/apply.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { RecordedWrite } from '../../kube/client/recording-client.ts';
import { keyText, type KubeObject } from '../../kube/object.ts';
import { RESOURCES, type Resource } from '../../kube/resource.ts';
import { StatusWriter } from '../../kube/status-writer.ts';
import { createMemoryClient } from '../../kube/store/memory-client.ts';
import { ObjectStore, type ApiObject } from '../../kube/store/object-store.ts';
import { DelegatingView } from '../../management/delegating-view.ts';
import { ManagementSnapshot } from '../../management/management-snapshot.ts';
import type { ManagementAccess, ManagementView } from '../../management/management-view.ts';
import { ensureMasterKeys } from '../../management/master-keys.ts';
import { objectOf } from '../../operator/testing/objects.ts';
import { SYSTEM_NAMESPACE, TENANTS } from '../../operator/testing/namespaces.ts';
import type { Cluster } from '../../plan/render.ts';
import type { Logger } from '../../telemetry/log.ts';
import { DEFAULT_LEASE_DURATION_MS } from '../../tenant/owner-lease.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import {
  cleanUpExposure,
  type CleanupState,
  type CleanupWait,
} from '../clean-up/clean-up-exposure.ts';
import { CleanupDeadline } from '../clean-up/cleanup-deadline.ts';
import { dryRun, type DryRun } from '../dry-run.ts';
import { Preparer } from '../preparation/preparer.ts';
import { SecretRenewals } from '../preparation/secret-renewals.ts';
import type { ReconcileDeps } from '../reconcile-deps.ts';
import { reconcileExposure, type Reconciled } from '../reconcile-exposure.ts';
import { NOT_PROBED } from '../report.ts';
import { TenantLinks } from '../tenant/link/tenant-links.ts';
import { TenantOwnership } from '../tenant/ownership/tenant-ownership.ts';
import { RolloutPacer } from '../tenant/rollout-pacing.ts';
import { loggedClient } from './logged-client.ts';

/** The Exposure. */
export const BLUE = { name: 'blue', namespace: TENANTS };
/** Its key. */
export const KEY = keyText(BLUE);
/** How long a cleanup waits for a tenant. */
export const CLEANUP_TIMEOUT_MS = 300_000;

const KINDS = Object.values(RESOURCES);
const SILENT: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const NO_SIGNAL = new AbortController().signal;

/** The writes to both clusters. */
export type Writes = Readonly<Record<Cluster, readonly RecordedWrite[]>>;

/** An API server in memory. */
export class LabServer {
  readonly #store = new ObjectStore({ historyLimit: 10_000 });
  readonly #name: string;
  readonly #resources: readonly Resource[];

  constructor(name: string, namespaces: readonly string[], resources: readonly Resource[]) {
    this.#name = name;
    this.#resources = resources;
    for (const namespace of namespaces) {
      const metadata = { name: namespace, uid: `${name}-${namespace}` };
      this.#store.restore(RESOURCES.namespace, objectOf('Namespace', metadata));
    }
  }

  /** A client that writes as this field manager. */
  client(fieldManager = 'snicket'): KubeClient {
    return createMemoryClient({
      store: this.#store,
      resources: this.#resources,
      fieldManager,
      name: this.#name,
    });
  }

  /** A client of Snicket whose writes are logged. */
  logged(writes: RecordedWrite[]): KubeClient {
    return loggedClient(this.client(), this.#store, writes);
  }

  /** All objects. */
  objects(): readonly ApiObject[] {
    return this.#resources.flatMap((resource) => this.#store.list(resource));
  }
}

/** Both clusters, and the time. */
export class ReconcileLab {
  readonly clock = new ManualClock();
  readonly management: LabServer;
  readonly tenant = new LabServer('tenant', ['default', 'kube-system'], KINDS);

  /** @param provided - The kinds of providers that the management cluster serves, each in one version. */
  constructor(provided: readonly Resource[]) {
    const namespaces = ['kube-system', TENANTS, SYSTEM_NAMESPACE];
    this.management = new LabServer('management', namespaces, [...KINDS, ...provided]);
  }

  /** A dry run by a fresh process. */
  async dryRun(proxyImage: string): Promise<DryRun> {
    const client = this.management.client();
    return dryRun(
      await this.exposure(),
      {
        management: await ManagementSnapshot.read(client, NO_SIGNAL),
        namespace: SYSTEM_NAMESPACE,
        proxyImage,
        clock: this.clock,
        connectTenant: async () => this.tenant.client(),
      },
      NO_SIGNAL,
    );
  }

  /** An operator that has just started, and has observed every tenant. */
  operator(proxyImage: string): LabOperator {
    return new LabOperator(this, proxyImage);
  }

  /** Whether the Exposure exists. */
  async hasExposure(): Promise<boolean> {
    return (await this.management.client().get(RESOURCES.exposure, BLUE)) !== undefined;
  }

  /** The Exposure as the API server has it. @throws Error if it is gone */
  async exposure(): Promise<KubeObject> {
    const found = await this.management.client().get(RESOURCES.exposure, BLUE);
    if (found === undefined) throw new Error(`Exposure ${KEY} is gone`);
    return found;
  }

  /** What the DaemonSet controller and kubelets of the tenant do: every node runs a ready proxy of the newest template. */
  async runTenantControllers(): Promise<void> {
    const client = this.tenant.client('kube-controller-manager');
    const set = await client.get(RESOURCES.daemonSet, PROXY);
    if (set === undefined) return;
    const nodes = await client.count(RESOURCES.node);
    const status = {
      observedGeneration: set.metadata.generation,
      desiredNumberScheduled: nodes,
      updatedNumberScheduled: nodes,
      numberReady: nodes,
    };
    await client.patch(RESOURCES.daemonSet, PROXY, 'merge', { status }, { subresource: 'status' });
  }
}

/** Reconciles and cleans up for real. */
export class LabOperator {
  readonly #lab: ReconcileLab;
  readonly #proxyImage: string;
  readonly #ownership: TenantOwnership;
  readonly #pacer: RolloutPacer;
  readonly #state: CleanupState;
  readonly #writes = { management: [] as RecordedWrite[], tenant: [] as RecordedWrite[] };
  readonly #management: KubeClient;
  /** One for all reconciles: by it, the Lease stays held. */
  readonly #tenant: KubeClient;

  constructor(lab: ReconcileLab, proxyImage: string) {
    const { clock } = lab;
    this.#lab = lab;
    this.#proxyImage = proxyImage;
    this.#management = lab.management.logged(this.#writes.management);
    this.#tenant = lab.tenant.logged(this.#writes.tenant);
    this.#ownership = new TenantOwnership({
      clusterId: () => 'management-kube-system',
      hasExposure: (key) => this.#exposures.has(key),
      durationMs: DEFAULT_LEASE_DURATION_MS,
      schedule: () => {},
      onChange: () => {},
      log: SILENT,
      clock,
      random: () => 0.5,
    });
    this.#pacer = new RolloutPacer({
      maxConcurrent: 10,
      exposures: () => 1,
      clock,
      onChange: () => {},
    });
    this.#pacer.reconciled(KEY);
    const deadline = new CleanupDeadline(CLEANUP_TIMEOUT_MS, clock);
    this.#state = { deadline, staleSecrets: new Map() };
  }

  #exposures: ReadonlySet<string> = new Set();

  /** The writes since the last call. */
  takeWrites(): Writes {
    const { management, tenant } = this.#writes;
    return { management: management.splice(0), tenant: tenant.splice(0) };
  }

  /** One reconcile. Undefined: the Exposure cannot be resolved, or is being deleted. */
  async reconcile(): Promise<Reconciled | undefined> {
    const object = await this.#lab.exposure();
    const deps = await this.#deps();
    try {
      const { value: resolved } = deps.management.exposureIndex.resolve(object);
      if (resolved === undefined) return undefined;
      const ignore = () => {};
      const { staleSecrets } = this.#state;
      const tracker = {
        staleSecrets,
        dependsOn: ignore,
        observed: ignore,
        routed: ignore,
        probedPath: () => NOT_PROBED,
      };
      return await reconcileExposure(object, resolved, deps, tracker, NO_SIGNAL);
    } finally {
      deps.links.closeAll();
    }
  }

  /** One step of the cleanup. Undefined: it is done. */
  async cleanUp(): Promise<CleanupWait | undefined> {
    const object = await this.#lab.exposure();
    const deps = await this.#deps();
    try {
      return await cleanUpExposure(object, deps, this.#state, NO_SIGNAL);
    } finally {
      deps.links.closeAll();
    }
  }

  async #deps(): Promise<ReconcileDeps & { readonly links: TenantLinks }> {
    const { clock } = this.#lab;
    const snapshot = await ManagementSnapshot.read(this.#management, NO_SIGNAL);
    this.#exposures = new Set(snapshot.exposures.map(({ metadata }) => keyText(metadata)));
    const management = new WritableManagement(snapshot, this.#management);
    const namespace = SYSTEM_NAMESPACE;
    return {
      management,
      namespace,
      proxyImage: this.#proxyImage,
      applier: new Applier(management.client, { clock }),
      onHostsReleased: () => {},
      statuses: new StatusWriter<ExposureStatus>(management.client),
      preparer: new Preparer(management.client, { clock }),
      renewals: new SecretRenewals({ management, clock }),
      events: { record: () => {} },
      readsTenants: true,
      links: new TenantLinks({
        onChange: () => {},
        freshMs: 0,
        isOwned: (key, client) => this.#ownership.isOwned(key, client),
        connect: () => this.#tenant,
        clock,
        random: () => 0.5,
      }),
      ownership: this.#ownership,
      pacer: this.#pacer,
      masterKeys: async () => ensureMasterKeys(management.client, namespace, NO_SIGNAL),
      tenantTimeoutMs: 20_000,
      cleanupTimeoutMs: CLEANUP_TIMEOUT_MS,
      log: SILENT,
      clock,
      random: () => 0.5,
    };
  }
}

/** A management cluster that is written to. */
class WritableManagement extends DelegatingView implements ManagementAccess {
  readonly #client: KubeClient;

  constructor(view: ManagementView, client: KubeClient) {
    super(view);
    this.#client = client;
  }

  override get client(): KubeClient {
    return this.#client;
  }
}
