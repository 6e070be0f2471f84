import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ClusterApi, type ClusterAccess } from './cluster/cluster-api.ts';
import { Cluster } from './cluster/cluster.ts';
import { ControlPlane, etcdDisk } from './cluster/control-plane.ts';
import { konnectivityObjects } from './cluster/konnectivity.ts';
import { Worker } from './cluster/worker.ts';
import { Dns, recordsFile, writeRecords, type DnsRecords, type DnsView } from './dns/records.ts';
import { baseImages, imageArchive } from './images/images.ts';
import type { ImageSpec } from './images/oci.ts';
import { cgroupPaths } from './machine/cgroup.ts';
import { Host, type HostOptions } from './machine/host.ts';
import { INOTIFY_PER_WORKER, inotifyNeeded } from './inotify-needs.ts';
import { reserveInotify } from './machine/inotify.ts';
import { Ledger, worldsFolder } from './machine/ledger.ts';
import { Network, type Link } from './machine/network.ts';
import { endedDaemons } from './status.ts';
import { abandonWorld, removeDeadWorlds, removeWorld, sweepText } from './machine/sweep.ts';
import { baseParts } from './parts/catalog.ts';
import { ensureParts } from './parts/parts.ts';
import { silentProgress, type Progress } from './parts/progress.ts';
import {
  API_PORT,
  hasExternalCloud,
  NETWORK,
  planNodes,
  planWorld,
  type ClusterPlan,
  type JoinSpec,
  type NodesPlan,
  type WorldPlan,
  type WorldSpec,
} from './spec.ts';
import { startRelay } from './relay/start.ts';
import { tenantNamespace, tenantService } from './tenant-service.ts';
import { waitForAll, waitFor } from './wait.ts';

/** Options of {@link World.start} besides the spec. */
export interface WorldOptions {
  /** Receives the progress. Default: none. */
  readonly progress?: Progress;
  /** Cancels the start. What was created is removed before the start fails. */
  readonly signal?: AbortSignal;
}

/**
 * Real Kubernetes on one machine: a management cluster, tenants with workers, a network and a DNS server. `await using
 * world = await World.start({...})` removes it at the end of the scope.
 */
export class World {
  readonly id: string;
  readonly plan: WorldPlan;
  readonly dns: Dns;
  readonly management: Cluster;
  readonly tenants: ReadonlyMap<string, Cluster>;
  readonly #ledger: Ledger;
  readonly #network: Network;
  readonly #joined = new Set<Cluster<ClusterApi>>();
  #clusters: number;
  #hosts = 0;

  private constructor(ledger: Ledger, plan: WorldPlan, components: Components) {
    this.id = ledger.id;
    this.plan = plan;
    this.dns = components.dns;
    this.management = components.management;
    this.tenants = new Map(components.tenants.map((tenant) => [tenant.name, tenant]));
    this.#ledger = ledger;
    this.#network = components.network;
    this.#clusters = 1 + plan.tenants.length;
  }

  /** Starts a world and returns when all its nodes are Ready. A world that fails to start is removed. */
  static async start(spec: WorldSpec = {}, options: WorldOptions = {}): Promise<World> {
    const plan = planWorld(spec);
    const progress = options.progress ?? silentProgress;
    for (const result of await removeDeadWorlds()) progress.done('clean-up', sweepText(result));
    await ensureParts(Object.values(baseParts), progress, options.signal);
    options.signal?.throwIfAborted();
    const ledger = Ledger.create(newId());
    const abandon = () => abandonWorld(ledger);
    options.signal?.addEventListener('abort', abandon);
    try {
      await reserveInotify(ledger, inotifyNeeded(plan));
      return new World(ledger, plan, await startComponents(ledger, plan, progress));
    } catch (error) {
      progress.done('world', options.signal?.aborted ? 'canceled' : `${ledger.id} could not start`);
      const failure: unknown = options.signal?.aborted
        ? options.signal.reason
        : withEndedDaemons(error, ledger);
      await removeWorld(ledger).catch((removalError: unknown) => {
        throw new AggregateError(
          [failure, removalError],
          `world ${ledger.id} could not start, and could not be removed`,
        );
      });
      throw failure;
    } finally {
      options.signal?.removeEventListener('abort', abandon);
    }
  }

  /** Folder with all files of this world; logs are in HOST/log. */
  get folder(): string {
    return this.#ledger.folder;
  }

  /** Returns the tenant with this name. */
  tenant(name: string): Cluster {
    const tenant = this.tenants.get(name);
    if (!tenant) {
      throw new Error(
        `no tenant '${name}'; tenants: ${[...this.tenants.keys()].join(', ') || 'none'}`,
      );
    }
    return tenant;
  }

  /**
   * Imports an image on every node: one built from files, or an OCI archive by its path. Pods use it by its name, with
   * imagePullPolicy Never.
   */
  async importImage(image: ImageSpec | string): Promise<void> {
    const archive = typeof image === 'string' ? image : imageArchive(image);
    const clusters = [this.management, ...this.tenants.values(), ...this.#joined];
    const workers = clusters.flatMap((cluster) => cluster.workers);
    await waitForAll(workers.map((worker) => worker.importImage(archive)));
  }

  /** Adds a machine to the network, for an edge, a provider's controller, or a client. */
  async addHost(name: string, options: Pick<HostOptions, 'tools'> = {}): Promise<NetworkHost> {
    const host = await Host.create(this.#ledger, {
      ...options,
      name,
      nameserver: NETWORK.resolver,
    });
    const address = `${NETWORK.prefix}.2.${++this.#hosts}`;
    return { host, address, link: await connect(this.#network, host, address) };
  }

  /**
   * Adds workers that join a control plane outside the world, and returns when they are Ready. They dial `spec.server`,
   * whose name must already resolve.
   *
   * @param access the administrator's access to the API server.
   * @param archives image archives for the workers besides those that every worker has.
   */
  async join(
    spec: JoinSpec,
    access: ClusterAccess,
    archives: readonly string[],
  ): Promise<Cluster<ClusterApi>> {
    const plan = planNodes(spec, this.#clusters++);
    await reserveInotify(this.#ledger, plan.workers.length * INOTIFY_PER_WORKER);
    this.dns.addViews(...clusterViews(plan));
    // The API server of a provider's tenant may connect to nodes by name.
    for (const { name, address } of plan.workers) this.dns.set(name, address);
    const workers = await buildWorkers(this.#ledger, this.#network, plan);
    const cluster = new Cluster(new ClusterApi(plan, access), workers);
    await cluster.start([...(await baseImages()), ...archives]);
    this.#joined.add(cluster);
    return cluster;
  }

  /** Stops the workers that {@link join} added, permanently. Their Node objects stay. */
  async stopJoined(cluster: Cluster<ClusterApi>): Promise<void> {
    if (!this.#joined.delete(cluster))
      throw new Error(`${cluster.name} is not joined to world ${this.id}`);
    await waitForAll(cluster.workers.map(({ host }) => host.stop()));
  }

  /**
   * Reserves inotify instances for further programs of a test.
   *
   * @throws if too few are available
   */
  async reserveInotify(instances: number): Promise<void> {
    await reserveInotify(this.#ledger, instances);
  }

  /** Adds the name of a management cluster's Service, `NAME.NAMESPACE.svc`, to the DNS, for pods and for hosts. */
  async nameService(namespace: string, name: string): Promise<void> {
    await nameService(this.management, this.dns, namespace, name);
  }

  /** Keeps the world running after this process ends, until `world down`. */
  keep(): void {
    this.#ledger.append({ kind: 'kept' });
  }

  /** Ends the world and removes everything that it created. */
  async stop(): Promise<void> {
    await removeWorld(this.#ledger);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** A machine that is neither a control plane nor a worker. */
export interface NetworkHost {
  readonly host: Host;
  readonly address: string;
  readonly link: Link;
}

interface Components {
  readonly network: Network;
  readonly dns: Dns;
  readonly management: Cluster;
  readonly tenants: readonly Cluster[];
}

async function startComponents(
  ledger: Ledger,
  plan: WorldPlan,
  progress: Progress,
): Promise<Components> {
  const planPath = join(ledger.folder, 'plan.json');
  writeFileSync(`${planPath}.new`, JSON.stringify(plan));
  renameSync(`${planPath}.new`, planPath);
  // Recorded before any process is in the world's cgroups.
  for (const path of cgroupPaths(ledger.cgroup)) ledger.append({ kind: 'cgroup', path });

  progress.update('world', 'network, DNS and hosts');
  const hub = await Host.create(ledger, { name: 'network', nameserver: NETWORK.resolver });
  const network = await Network.create(hub, NETWORK.resolver, NETWORK.length);
  const clusters = [plan.management, ...plan.tenants];
  const dnsPath = recordsFile(ledger.folder);
  writeRecords(dnsPath, initialRecords(clusters));
  const resolver = await hub.start('dns', [
    process.execPath,
    join(import.meta.dir, 'dns', 'main.ts'),
    NETWORK.resolver,
    dnsPath,
  ]);
  await waitFor('the DNS answers', () => {
    if (!resolver.running) throw new Error(`the DNS ended:\n${resolver.tail()}`);
    return resolver.tail().includes('answering');
  });
  const targets = clusters.map(({ name, address }) => [name, `${address}:${API_PORT}`] as const);
  const machineServers = await startRelay(hub, 'relay', Object.fromEntries(targets));
  const archives = await baseImages();

  progress.update('world', 'control planes and workers');
  const built = await waitForAll(
    clusters.map(async (cluster) => {
      const url = machineServers.get(cluster.name);
      if (url === undefined) throw new Error(`the relay has no port for ${cluster.name}`);
      const built = await buildCluster(ledger, network, cluster, url);
      await built.start(archives, cluster.konnectivity ? konnectivityObjects(cluster) : []);
      if (cluster.konnectivity && !hasExternalCloud(cluster)) await built.untilNodesReachable();
      progress.done(
        cluster.name,
        `ready, ${cluster.workers.length} ${cluster.workers.length === 1 ? 'node' : 'nodes'}`,
      );
      return built;
    }),
  );
  const [management, ...tenants] = built;
  if (!management) throw new Error('a world has a management cluster');
  const dns = new Dns(dnsPath);
  if (tenants.length > 0) {
    await management.apply(...tenants.flatMap(({ controlPlane }) => tenantService(controlPlane)));
    for (const { name } of tenants) await nameService(management, dns, tenantNamespace(name), name);
  }
  progress.done('world', `${ledger.id} is up`);
  return { network, dns, management, tenants };
}

async function nameService(
  management: Cluster,
  dns: Dns,
  namespace: string,
  name: string,
): Promise<void> {
  const service = await management.get<{ spec: { clusterIP: string } }>('service', name, namespace);
  if (!service) throw new Error(`no Service ${namespace}/${name} in the management cluster`);
  for (const suffix of ['svc', 'svc.cluster.local']) {
    dns.set(`${name}.${namespace}.${suffix}`, service.spec.clusterIP);
  }
}

/** Creates the hosts of a cluster and its certificates. Does not start programs. */
async function buildCluster(
  ledger: Ledger,
  network: Network,
  plan: ClusterPlan,
  machineServer: string,
): Promise<Cluster> {
  const host = await Host.create(ledger, {
    name: plan.name,
    disk: etcdDisk(join(ledger.folder, plan.name), plan),
    nameserver: NETWORK.resolver,
  });
  const link = await connect(network, host, plan.address);
  const workers = await buildWorkers(ledger, network, plan);
  return new Cluster(await ControlPlane.create(plan, host, link, machineServer), workers);
}

async function buildWorkers(ledger: Ledger, network: Network, plan: NodesPlan): Promise<Worker[]> {
  return waitForAll(
    plan.workers.map((worker) =>
      Worker.create(ledger, plan, worker, (node) => connect(network, node, worker.address)),
    ),
  );
}

async function connect(network: Network, host: Host, address: string): Promise<Link> {
  return network.connect(host, address, NETWORK.length, NETWORK.resolver);
}

/** Adds the logs of ended programs to an error: they often show the cause, and are removed with the world. */
function withEndedDaemons(error: unknown, ledger: Ledger): Error {
  const ended = endedDaemons(ledger).map(
    ({ name, tail }) => `${name} has ended; its log says:\n${tail}`,
  );
  const message = error instanceof Error ? error.message : String(error);
  return new Error([message, ...ended].join('\n\n'), { cause: error });
}

/** Returns records that point every host to its control plane. A test changes them to use an edge. */
function initialRecords(clusters: readonly ClusterPlan[]): DnsRecords {
  return {
    names: Object.fromEntries(
      clusters.flatMap(({ hosts, address }) => [
        [hosts.api, [address]],
        [hosts.konnectivity, [address]],
      ]),
    ),
    views: clusters.flatMap(clusterViews),
  };
}

/** Returns the DNS view of a cluster's nodes and pods, with the name of their own API server. */
function clusterViews({ workers, serviceAddress }: NodesPlan): DnsView[] {
  // The addresses of a cluster's workers differ in the last byte only.
  return workers.slice(0, 1).map(({ address }) => ({
    prefix: address.replace(/\d+$/, ''),
    names: { 'kubernetes.default.svc.cluster.local': [serviceAddress] },
  }));
}

function newId(): string {
  for (;;) {
    const id = Math.random().toString(36).slice(2, 6).padEnd(4, '0');
    if (!existsSync(join(worldsFolder, id))) return id;
  }
}
