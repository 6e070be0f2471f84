import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Host } from '../machine/host.ts';
import type { Link } from '../machine/network.ts';
import { program } from '../parts/parts.ts';
import { API_PORT, type ClusterPlan } from '../spec.ts';
import { waitFor } from '../wait.ts';
import { kubeconfig, writeKubeconfig } from './kubeconfig.ts';
import { writeControlPlaneFiles } from './control-plane-files.ts';
import { Authority, type Credential, type Subject } from './pki.ts';
import {
  apiServer,
  controllerManager,
  controlPlanePaths,
  etcd,
  konnectivityServer,
  scheduler,
  type ControlPlanePaths,
} from './programs.ts';

/** MiB of the memory disk that holds a control plane's etcd. Two write-ahead segments of 64 and a database fit well. */
const ETCD_DISK_MIB = 512;

/** The disk of a control plane's host, for {@link Host.create}. */
export function etcdDisk(folder: string): { path: string; sizeMiB: number } {
  return { path: controlPlanePaths(folder).etcd, sizeMiB: ETCD_DISK_MIB };
}

/**
 * One cluster's control plane, on a host of its own: etcd, kube-apiserver, kube-controller-manager,
 * kube-scheduler, and konnectivity-server where the plan has it.
 */
export class ControlPlane {
  readonly plan: ClusterPlan;
  readonly host: Host;
  readonly link: Link;
  readonly authority: Authority;
  readonly #admin: Credential;
  readonly #paths: ControlPlanePaths;
  readonly #relayed: string;

  private constructor(
    plan: ClusterPlan,
    host: Host,
    link: Link,
    relayed: string,
    authority: Authority,
    admin: Credential,
  ) {
    this.plan = plan;
    this.host = host;
    this.link = link;
    this.authority = authority;
    this.#admin = admin;
    this.#relayed = relayed;
    this.#paths = controlPlanePaths(host.folder);
  }

  /** Issues the certificates; nothing runs yet. `relayed` is the API server's address from the machine's own network. */
  static async create(
    plan: ClusterPlan,
    host: Host,
    link: Link,
    relayed: string,
  ): Promise<ControlPlane> {
    const authority = await Authority.create(`${plan.name}-ca`);
    const admin = await authority.issue({ commonName: 'admin', organization: 'system:masters' });
    const controlPlane = new ControlPlane(plan, host, link, relayed, authority, admin);
    await writeControlPlaneFiles(plan, controlPlane.#paths, authority, controlPlane.server);
    writeFileSync(controlPlane.kubeconfig, controlPlane.kubeconfigFor(controlPlane.server), {
      mode: 0o600,
    });
    writeFileSync(controlPlane.machineKubeconfig, controlPlane.kubeconfigFor(relayed), {
      mode: 0o600,
    });
    return controlPlane;
  }

  /** Address of the API server inside the world. */
  get server(): string {
    return `https://${this.plan.address}:${API_PORT}`;
  }

  /** Path of the administrator's kubeconfig, for programs inside the world's network. */
  get kubeconfig(): string {
    return join(this.host.folder, 'files', 'admin.kubeconfig');
  }

  /** Path of the administrator's kubeconfig, for programs in the machine's own network. */
  get machineKubeconfig(): string {
    return join(this.host.folder, 'kubeconfig');
  }

  /** Text of the administrator's kubeconfig for another address of the same API server. */
  kubeconfigFor(server: string): string {
    return kubeconfig({
      name: this.plan.name,
      server,
      authority: this.authority.certificate,
      credential: this.#admin,
    });
  }

  /** Writes a kubeconfig of a user of this cluster. */
  async writeUser(path: string, subject: Subject, server = this.server): Promise<string> {
    const credential = await this.authority.issue(subject);
    return writeKubeconfig(path, {
      name: this.plan.name,
      server,
      authority: this.authority.certificate,
      credential,
    });
  }

  /** Runs kubectl as the administrator. */
  async kubectl(args: readonly string[], input?: string): Promise<string> {
    const kubectl = [program('kubectl'), `--kubeconfig=${this.kubeconfig}`];
    const cache = `--cache-dir=${join(this.host.folder, 'kubectl-cache')}`;
    const { stdout } = await this.host.exec([...kubectl, cache, ...args], {
      timeoutMs: 120_000,
      // Not the preferences that the user keeps for kubectl.
      env: { KUBERC: 'off' },
      shown: [`${this.plan.name}: kubectl`, ...args],
      ...(input === undefined ? {} : { input }),
    });
    return stdout;
  }

  /** Starts everything, in order, and returns when the API server is ready and its controllers run. */
  async start(): Promise<void> {
    await this.host.start('etcd', etcd(this.#paths));
    if (this.plan.konnectivity)
      await this.host.start('konnectivity-server', konnectivityServer(this.#paths));
    const server = await this.host.start('kube-apiserver', apiServer(this.plan, this.#paths));
    await waitFor(
      `the API server of ${this.plan.name} is ready`,
      async () => {
        if (!server.running)
          throw new Error(`kube-apiserver of ${this.plan.name} ended:\n${server.tail()}`);
        return this.#ready();
      },
      { deadlineMs: 60_000, everyMs: 50 },
    );
    // Both end if they find no API server at their start.
    await this.host.start('kube-controller-manager', controllerManager(this.plan, this.#paths));
    await this.host.start('kube-scheduler', scheduler(this.#paths));
  }

  /** Fills the disk of etcd to the last byte. */
  async fillDisk(): Promise<void> {
    // dd ends with an error when the disk is full, which is the point.
    await this.host.exec([
      'sh',
      '-c',
      `dd if=/dev/zero of=${this.#paths.etcd}/filler bs=1M 2>/dev/null; [ "$(df --output=avail ${this.#paths.etcd} | tail -1)" -eq 0 ]`,
    ]);
  }

  /** Frees what {@link fillDisk} took. */
  async freeDisk(): Promise<void> {
    await this.host.exec(['rm', '-f', `${this.#paths.etcd}/filler`]);
  }

  /** A request to the API server as the administrator, from the machine's own network. */
  async request(
    method: string,
    path: string,
    body?: unknown,
    contentType = 'application/json',
  ): Promise<Response> {
    return fetch(`${this.#relayed}${path}`, {
      method,
      headers: { 'content-type': contentType },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      tls: { ca: this.authority.certificate, cert: this.#admin.certificate, key: this.#admin.key },
      signal: AbortSignal.timeout(30_000),
    });
  }

  async #ready(): Promise<boolean> {
    try {
      const response = await this.request('GET', '/readyz');
      return response.ok && (await response.text()) === 'ok';
    } catch {
      return false; // not listening yet: the caller asks again until its deadline
    }
  }
}
