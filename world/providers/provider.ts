import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../cluster/cluster.ts';
import { Authority, writeCredential } from '../cluster/pki.ts';
import type { Daemon } from '../machine/daemon.ts';
import { partFolder } from '../parts/cache.ts';
import type { GoPart } from '../parts/catalog.ts';
import { ensureParts } from '../parts/parts.ts';
import { silentProgress, type Progress } from '../parts/progress.ts';
import { waitForAll, waitFor } from '../wait.ts';
import type { NetworkHost, World } from '../world.ts';
import { admissionObjects } from './admission.ts';
import { DATA_STORE, dataStoreObjects, startEtcd } from './data-store.ts';
import { installDefinitions, readDefinitions } from './definitions.ts';
import { kamaji } from './kamaji.ts';
import { steward } from './steward.ts';

/** Names of the available providers. */
export type ProviderName = 'kamaji' | 'steward';

/** Versions in the control planes of tenants. */
export interface TenantVersions {
  /** The newest Kubernetes version that the provider supports. */
  readonly kubernetes: string;
  /** The konnectivity version that it uses by default. */
  readonly konnectivity: string;
}

/** The differences between Kamaji and Steward, its fork. */
export interface ProviderKind {
  readonly name: ProviderName;
  readonly part: GoPart;
  /** API group of its resources, which are all in version v1alpha1. */
  readonly group: string;
  readonly versions: TenantVersions;
  /** Flags of its manager that the other provider does not have. */
  readonly flags: readonly string[];
  /** Folder with its CRDs; the part must be in the cache. */
  definitionsFolder(): string;
  /** Installs what the provider needs in the management cluster besides its own CRDs. */
  prepare(management: Cluster): Promise<void>;
}

/** A running provider: its real controller for a management cluster, and an etcd for its tenants. */
export interface Provider {
  readonly name: ProviderName;
  /** The machine on which controller and etcd run. */
  readonly machine: NetworkHost;
  readonly controller: Daemon;
  readonly etcd: Daemon;
  /** apiVersion of its TenantControlPlane. */
  readonly apiVersion: string;
  /** Resource name for kubectl. The short name `tcp` is ambiguous, because both providers have it. */
  readonly resource: string;
  /** Name of the DataStore for the etcd. */
  readonly dataStore: string;
  readonly versions: TenantVersions;
}

/** Options of {@link startProvider}. */
export interface ProviderOptions {
  /** Receives the progress. Default: none. */
  readonly progress?: Progress;
}

/** Inotify instances of a manager, which watches its certificate files. */
const INOTIFY_PER_MANAGER = 2;

/** Port of controller-runtime's webhook server. Neither provider has a flag for it. */
const WEBHOOK_PORT = 9443;

const kinds: Readonly<Record<ProviderName, ProviderKind>> = { kamaji, steward };

/**
 * Starts a provider for the world's management cluster, on its own host, and returns when the API server calls its
 * webhooks. A world can have both providers, each once.
 */
export async function startProvider(
  world: World,
  name: ProviderName,
  options: ProviderOptions = {},
): Promise<Provider> {
  const kind = kinds[name];
  const progress = options.progress ?? silentProgress;
  await ensureParts([kind.part], progress);
  await world.reserveInotify(INOTIFY_PER_MANAGER);
  progress.update(name, 'starting etcd and controller');
  // This name is longer than a tenant name may be, so it is unique.
  const machine = await world.addHost(`provider-${name}`);
  const [etcd] = await waitForAll([
    startEtcd(machine),
    installDefinitions(world.management, readDefinitions(kind.definitionsFolder())),
    kind.prepare(world.management),
  ]);
  const namespace = `${name}-system`;
  // Applied before the controller starts, because it exits if its default DataStore does not exist.
  await world.management.apply(...dataStoreObjects(kind.group, namespace, etcd));
  const webhooks = await webhookAuthority(machine);
  const controller = await startController(kind, namespace, world.management, machine);
  const url = `https://${machine.address}:${WEBHOOK_PORT}`;
  await world.management.apply(
    ...admissionObjects({ name, group: kind.group, url, authority: webhooks.certificate }),
  );
  await untilControllerReady(kind, world.management, [controller, etcd.daemon]);
  progress.done(name, `${kind.part.version} is ready`);
  return {
    name,
    machine,
    controller,
    etcd: etcd.daemon,
    apiVersion: `${kind.group}/v1alpha1`,
    resource: `tenantcontrolplanes.${kind.group}`,
    dataStore: DATA_STORE,
    versions: kind.versions,
  };
}

/** Writes the certificate of the controller's webhooks to the folder that the controller reads. */
async function webhookAuthority(machine: NetworkHost): Promise<Authority> {
  const authority = await Authority.create('webhook-ca');
  const folder = webhookFolder(machine);
  writeCredential(
    folder,
    'tls',
    await authority.issue({ commonName: 'webhook', names: [machine.address] }),
  );
  writeCredential(folder, 'ca', authority);
  return authority;
}

/** Returns controller-runtime's default folder, below the controller's TMPDIR. */
function webhookFolder(machine: NetworkHost): string {
  return join(temporaryFolder(machine), 'k8s-webhook-server', 'serving-certs');
}

function temporaryFolder(machine: NetworkHost): string {
  return join(machine.host.folder, 'files', 'tmp');
}

async function startController(
  kind: ProviderKind,
  namespace: string,
  management: Cluster,
  machine: NetworkHost,
): Promise<Daemon> {
  const temporary = temporaryFolder(machine);
  mkdirSync(temporary, { recursive: true });
  return machine.host.start(
    kind.name,
    [
      join(partFolder(kind.part), kind.name),
      'manager',
      '--leader-elect=false',
      '--metrics-bind-address=127.0.0.1:8080',
      '--health-probe-bind-address=127.0.0.1:8081',
      `--tmp-directory=${temporary}/${kind.name}`,
      `--pod-namespace=${namespace}`,
      '--serviceaccount-name=default',
      `--webhook-ca-path=${webhookFolder(machine)}/ca.crt`,
      // Only the Job that migrates a tenant to another DataStore uses this image.
      '--migrate-image=snicket.test/none:1',
      `--datastore=${DATA_STORE}`,
      ...kind.flags,
    ],
    { env: { KUBECONFIG: management.controlPlane.kubeconfig, TMPDIR: temporary } },
  );
}

/**
 * Waits until the API server calls the controller's webhooks. A DataStore has no condition for that. Instead, the API
 * server refuses a DataStore without its Secret, and a tenant without a DataStore gets the default.
 */
async function untilControllerReady(
  kind: ProviderKind,
  management: Cluster,
  daemons: readonly Daemon[],
): Promise<void> {
  const path = `/apis/${kind.group}/v1alpha1`;
  const dryRun = async (resource: string, object: object) =>
    management.controlPlane.request('POST', `${path}/${resource}?dryRun=All`, object);
  const emptyCredential = { certificate: '', key: '' };
  const etcd = { endpoint: 'nowhere:2379', authority: emptyCredential, root: emptyCredential };
  const [, , unusable] = dataStoreObjects(kind.group, 'nowhere', etcd);
  await waitFor(
    `the API server calls the webhooks of ${kind.name}`,
    async () => {
      for (const daemon of daemons)
        if (!daemon.running) throw new Error(`${daemon.name} ended:\n${daemon.tail()}`);
      const rejected = await dryRun('datastores', { ...unusable, metadata: { name: 'unusable' } });
      if (rejected.status !== 403) return false;
      const accepted = await dryRun('namespaces/default/tenantcontrolplanes', plainTenant(kind));
      if (!accepted.ok) return false;
      const { spec } = (await accepted.json()) as { spec: { dataStore?: string } };
      return spec.dataStore === DATA_STORE;
    },
    { deadlineMs: 60_000, everyMs: 250 },
  );
}

/** Returns the smallest valid TenantControlPlane. */
function plainTenant({ group, versions }: ProviderKind): object {
  return {
    apiVersion: `${group}/v1alpha1`,
    kind: 'TenantControlPlane',
    metadata: { name: 'plain' },
    spec: {
      // Without `deployment`, the defaults of Steward v0.3.0 are a patch that the API server cannot apply.
      controlPlane: { deployment: {}, service: { serviceType: 'ClusterIP' } },
      kubernetes: { version: versions.kubernetes, kubelet: {} },
      networkProfile: { port: 6443 },
    },
  };
}
