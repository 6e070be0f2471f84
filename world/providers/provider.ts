import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../cluster/cluster.ts';
import { Authority, writeCredential } from '../cluster/pki.ts';
import type { Daemon } from '../machine/daemon.ts';
import { partFolder } from '../parts/cache.ts';
import type { GoPart } from '../parts/catalogue.ts';
import { ensureParts } from '../parts/parts.ts';
import { silentProgress, type Progress } from '../parts/progress.ts';
import { together, waitFor } from '../wait.ts';
import type { NetworkHost, World } from '../world.ts';
import { admissionObjects } from './admission.ts';
import { DATA_STORE, dataStoreObjects, startEtcd } from './data-store.ts';
import { installDefinitions, readDefinitions } from './definitions.ts';
import { kamaji } from './kamaji.ts';
import { steward } from './steward.ts';

/** The controllers that can be had. */
export type ProviderName = 'kamaji' | 'steward';

/** What the control planes of tenants are made of. */
export interface TenantVersions {
  /** The newest Kubernetes that the provider makes. */
  readonly kubernetes: string;
  /** The konnectivity that it takes for it unless told otherwise. */
  readonly konnectivity: string;
}

/** What a provider has of its own. All else is the same for Kamaji and for Steward, which comes from it. */
export interface ProviderKind {
  readonly name: ProviderName;
  readonly part: GoPart;
  /** API group of its resources, which are all in version v1alpha1. */
  readonly group: string;
  readonly versions: TenantVersions;
  /** Flags of its manager that the other does not have. */
  readonly flags: readonly string[];
  /** Folder with its CRDs; the part must be in the cache. */
  definitionsFolder(): string;
  /** Brings into the management cluster what it needs there besides its own CRDs. */
  prepare(management: Cluster): Promise<void>;
}

/** A provider's real controller at work on a management cluster, with an etcd for its tenants. */
export interface Provider {
  readonly name: ProviderName;
  /** The machine on which controller and etcd run. */
  readonly machine: NetworkHost;
  readonly controller: Daemon;
  readonly etcd: Daemon;
  /** apiVersion of its TenantControlPlane. */
  readonly apiVersion: string;
  /** What kubectl takes for them: the short name `tcp` is not one provider's alone. */
  readonly resource: string;
  /** Name of the DataStore that is the etcd. */
  readonly dataStore: string;
  readonly versions: TenantVersions;
}

/** Options of {@link startProvider}. */
export interface ProviderOptions {
  /** Who hears how it goes. Default nobody. */
  readonly progress?: Progress;
}

/** It watches the files of its certificates. */
const INOTIFY_PER_MANAGER = 2;

/** The port of controller-runtime's webhook server, which neither provider lets one change. */
const WEBHOOK_PORT = 9443;

const kinds: Readonly<Record<ProviderName, ProviderKind>> = { kamaji, steward };

/**
 * Starts a provider against the world's management cluster, on a host of its own, and returns when the API
 * server asks it. A world can have both, each once.
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
  // Longer than the name of any tenant, so that it is nobody else's.
  const machine = await world.addHost(`provider-${name}`);
  const [etcd] = await together([
    startEtcd(machine),
    installDefinitions(world.management, readDefinitions(kind.definitionsFolder())),
    kind.prepare(world.management),
  ]);
  const namespace = `${name}-system`;
  // Before the controller, which ends if its default DataStore does not exist.
  await world.management.apply(...dataStoreObjects(kind.group, namespace, etcd));
  const webhooks = await webhookAuthority(machine);
  const controller = await startController(kind, namespace, world.management, machine);
  const url = `https://${machine.address}:${WEBHOOK_PORT}`;
  await world.management.apply(
    ...admissionObjects({ name, group: kind.group, url, authority: webhooks.certificate }),
  );
  await controllerReady(kind, world.management, [controller, etcd.daemon]);
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

/** Puts the certificate of the controller's webhooks where it looks for it. */
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

/** Below the controller's TMPDIR, at the place that controller-runtime has for it. */
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
      // Only the Job that moves a tenant to another DataStore uses it.
      '--migrate-image=snicket.test/none:1',
      `--datastore=${DATA_STORE}`,
      ...kind.flags,
    ],
    { env: { KUBECONFIG: management.controlPlane.kubeconfig, TMPDIR: temporary } },
  );
}

/**
 * Waits until the controller has a say in what the API server takes. A DataStore has no condition that tells of
 * it: the signs are that one without its Secret is refused, and that a tenant without a DataStore gets the default.
 */
async function controllerReady(
  kind: ProviderKind,
  management: Cluster,
  daemons: readonly Daemon[],
): Promise<void> {
  const path = `/apis/${kind.group}/v1alpha1`;
  const tryOut = async (resource: string, object: object) =>
    management.controlPlane.request('POST', `${path}/${resource}?dryRun=All`, object);
  const nowhere = { certificate: '', key: '' };
  const etcd = { endpoint: 'nowhere:2379', authority: nowhere, root: nowhere };
  const [, , unusable] = dataStoreObjects(kind.group, 'nowhere', etcd);
  await waitFor(
    `${kind.name} is asked by the API server, and answers`,
    async () => {
      for (const daemon of daemons)
        if (!daemon.running) throw new Error(`${daemon.name} ended:\n${daemon.tail()}`);
      const refused = await tryOut('datastores', { ...unusable, metadata: { name: 'unusable' } });
      if (refused.status !== 403) return false;
      const taken = await tryOut('namespaces/default/tenantcontrolplanes', plainTenant(kind));
      if (!taken.ok) return false;
      const { spec } = (await taken.json()) as { spec: { dataStore?: string } };
      return spec.dataStore === DATA_STORE;
    },
    { deadlineMs: 60_000, everyMs: 250 },
  );
}

/** The least that a tenant can be. */
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
