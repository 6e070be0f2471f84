import { join } from 'node:path';
import type { Host } from '../machine/host.ts';
import type { Link } from '../machine/network.ts';
import { API_PORT, type ClusterPlan } from '../spec.ts';
import { waitFor } from '../wait.ts';
import { ClusterApi, type ClusterAccess } from './cluster-api.ts';
import { writeControlPlaneFiles } from './control-plane-files.ts';
import { Authority } from './pki.ts';
import {
  apiServer,
  controllerManager,
  controlPlanePaths,
  etcd,
  konnectivityServer,
  scheduler,
  type ControlPlanePaths,
} from './programs.ts';

/**
 * Size of the memory disk for a control plane's etcd, in MiB. It holds two 64 MiB write-ahead segments and a database.
 */
const ETCD_DISK_MIB = 512;

/** Returns the disk of a control plane's host, for {@link Host.create}. */
export function etcdDisk(
  folder: string,
  { etcdDiskMiB: sizeMiB = ETCD_DISK_MIB }: Pick<ClusterPlan, 'etcdDiskMiB'>,
): { path: string; sizeMiB: number } {
  return { path: controlPlanePaths(folder).etcd, sizeMiB };
}

/**
 * One cluster's control plane on its own host: etcd, kube-apiserver, kube-controller-manager, kube-scheduler and, if
 * the plan has it, konnectivity-server.
 */
export class ControlPlane extends ClusterApi {
  declare readonly plan: ClusterPlan;
  readonly link: Link;
  readonly #paths: ControlPlanePaths;

  private constructor(plan: ClusterPlan, link: Link, access: ClusterAccess) {
    super(plan, access);
    this.link = link;
    this.#paths = controlPlanePaths(access.host.folder);
  }

  /** Issues the certificates. `machineServer` is the API server's address from the machine's own network. */
  static async create(
    plan: ClusterPlan,
    host: Host,
    link: Link,
    machineServer: string,
  ): Promise<ControlPlane> {
    const authority = await Authority.create(`${plan.name}-ca`);
    const admin = await authority.issue({ commonName: 'admin', organization: 'system:masters' });
    const server = `https://${plan.address}:${API_PORT}`;
    const kubeconfig = join(host.folder, 'files', 'admin.kubeconfig');
    const machineKubeconfig = join(host.folder, 'kubeconfig');
    const access = { authority, admin, host, server, machineServer, kubeconfig, machineKubeconfig };
    const controlPlane = new ControlPlane(plan, link, access);
    await writeControlPlaneFiles(plan, controlPlane.#paths, authority, server);
    return controlPlane;
  }

  /** Starts everything, in order, and returns when the API server is ready and its controllers run. */
  override async start(): Promise<void> {
    await this.host.start('etcd', etcd(this.#paths));
    if (this.plan.konnectivity)
      await this.host.start('konnectivity-server', konnectivityServer(this.#paths));
    const server = await this.host.start('kube-apiserver', apiServer(this.plan, this.#paths));
    await waitFor(
      `the API server of ${this.plan.name} is ready`,
      async () => {
        if (!server.running)
          throw new Error(`kube-apiserver of ${this.plan.name} ended:\n${server.tail()}`);
        return this.answers('/readyz');
      },
      { deadlineMs: 60_000, everyMs: 50 },
    );
    // Both exit if they find no API server when they start.
    await this.host.start('kube-controller-manager', controllerManager(this.plan, this.#paths));
    await this.host.start('kube-scheduler', scheduler(this.#paths));
  }

  /** Fills the disk of etcd to the last byte. */
  async fillDisk(): Promise<void> {
    // dd fails when the disk is full, so the exit code is that of the test.
    await this.host.exec([
      'sh',
      '-c',
      `dd if=/dev/zero of=${this.#paths.etcd}/filler bs=1M 2>/dev/null; [ "$(df --output=avail ${this.#paths.etcd} | tail -1)" -eq 0 ]`,
    ]);
  }

  /** Deletes the file that {@link fillDisk} wrote. */
  async freeDisk(): Promise<void> {
    await this.host.exec(['rm', '-f', `${this.#paths.etcd}/filler`]);
  }
}
