import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Host } from '../machine/host.ts';
import type { Link } from '../machine/network.ts';
import { program } from '../parts/parts.ts';
import { API_PORT, KONNECTIVITY_PORT, type ClusterPlan } from '../spec.ts';
import { waitFor } from '../wait.ts';
import { kubeconfig, writeKubeconfig } from './kubeconfig.ts';
import { Authority, tokenKeys, writeCredential, type Credential, type Subject } from './pki.ts';

/** MiB of the memory disk that holds a control plane's etcd. Two write-ahead segments of 64 and a database fit well. */
const ETCD_DISK_MIB = 512;

/** The disk of a control plane's host, for {@link Host.create}. */
export function etcdDisk(folder: string): { path: string; sizeMiB: number } {
  return { path: join(folder, 'etcd'), sizeMiB: ETCD_DISK_MIB };
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
  readonly #pki: string;
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
    this.#pki = join(host.folder, 'files', 'pki');
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
    await controlPlane.#writeFiles();
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
      shown: [`${this.plan.name}: kubectl`, ...args],
      ...(input === undefined ? {} : { input }),
    });
    return stdout;
  }

  /** Starts everything, in order, and returns when the API server is ready and its controllers run. */
  async start(): Promise<void> {
    await this.host.start('etcd', this.#etcd());
    if (this.plan.konnectivity)
      await this.host.start('konnectivity-server', this.#konnectivityServer());
    const apiServer = await this.host.start('kube-apiserver', this.#apiServer());
    await waitFor(
      `the API server of ${this.plan.name} is ready`,
      async () => {
        if (!apiServer.running)
          throw new Error(`kube-apiserver of ${this.plan.name} ended:\n${apiServer.tail()}`);
        return this.#ready();
      },
      { deadlineMs: 60_000, everyMs: 50 },
    );
    // Both end if they find no API server at their start.
    await this.host.start('kube-controller-manager', this.#controllerManager());
    await this.host.start('kube-scheduler', this.#scheduler());
  }

  /** Fills the disk of etcd to the last byte. */
  async fillDisk(): Promise<void> {
    // dd ends with an error when the disk is full, which is the point.
    await this.host.exec([
      'sh',
      '-c',
      `dd if=/dev/zero of=${this.#etcdFolder}/filler bs=1M 2>/dev/null; [ "$(df --output=avail ${this.#etcdFolder} | tail -1)" -eq 0 ]`,
    ]);
  }

  /** Frees what {@link fillDisk} took. */
  async freeDisk(): Promise<void> {
    await this.host.exec(['rm', '-f', `${this.#etcdFolder}/filler`]);
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

  get #etcdFolder(): string {
    return etcdDisk(this.host.folder).path;
  }

  async #writeFiles(): Promise<void> {
    mkdirSync(this.#pki, { recursive: true });
    const { plan, authority } = this;
    writeCredential(this.#pki, 'ca', authority);
    writeCredential(this.#pki, 'admin', this.#admin);
    writeFileSync(this.kubeconfig, this.kubeconfigFor(this.server), { mode: 0o600 });
    writeFileSync(this.machineKubeconfig, this.kubeconfigFor(this.#relayed), { mode: 0o600 });
    const serving = await authority.issue({
      commonName: 'kube-apiserver',
      names: [
        'kubernetes',
        'kubernetes.default',
        'kubernetes.default.svc',
        'kubernetes.default.svc.cluster.local',
        'localhost',
        plan.hosts.api,
        plan.serviceAddress,
        plan.address,
        '127.0.0.1',
      ],
    });
    writeCredential(this.#pki, 'apiserver', serving);
    const kubeletClient = {
      commonName: 'kube-apiserver-kubelet-client',
      organization: 'system:masters',
    };
    writeCredential(this.#pki, 'kubelet-client', await authority.issue(kubeletClient));
    for (const user of ['kube-controller-manager', 'kube-scheduler']) {
      await this.writeUser(join(this.#pki, `${user}.kubeconfig`), { commonName: `system:${user}` });
    }
    const frontProxy = await Authority.create(`${plan.name}-front-proxy-ca`);
    writeCredential(this.#pki, 'front-proxy-ca', frontProxy);
    writeCredential(
      this.#pki,
      'front-proxy-client',
      await frontProxy.issue({ commonName: 'front-proxy-client' }),
    );
    const tokens = await tokenKeys();
    writeFileSync(join(this.#pki, 'sa.pub'), tokens.publicKey);
    writeFileSync(join(this.#pki, 'sa.key'), tokens.privateKey, { mode: 0o600 });
    if (plan.konnectivity) await this.#writeKonnectivityFiles();
  }

  async #writeKonnectivityFiles(): Promise<void> {
    const serving = {
      commonName: 'konnectivity-server',
      names: [this.plan.hosts.konnectivity, this.plan.address],
    };
    writeCredential(this.#pki, 'konnectivity-server', await this.authority.issue(serving));
    await this.writeUser(join(this.#pki, 'konnectivity-server.kubeconfig'), {
      commonName: 'system:konnectivity-server',
    });
    const selector = {
      apiVersion: 'apiserver.k8s.io/v1beta1',
      kind: 'EgressSelectorConfiguration',
      egressSelections: [
        {
          name: 'cluster',
          connection: {
            proxyProtocol: 'GRPC',
            transport: { uds: { udsName: this.#konnectivitySocket } },
          },
        },
      ],
    };
    writeFileSync(join(this.#pki, 'egress-selector.json'), JSON.stringify(selector));
  }

  get #konnectivitySocket(): string {
    return join(this.host.folder, 'files', 'konnectivity.sock');
  }

  #etcd(): string[] {
    return [
      program('etcd'),
      `--data-dir=${this.#etcdFolder}/data`,
      '--unsafe-no-fsync',
      '--log-level=warn',
      '--listen-client-urls=http://127.0.0.1:2379',
      '--advertise-client-urls=http://127.0.0.1:2379',
      '--listen-peer-urls=http://127.0.0.1:2380',
    ];
  }

  #apiServer(): string[] {
    const { plan } = this;
    const pki = this.#pki;
    return [
      program('kube-apiserver'),
      '--etcd-servers=http://127.0.0.1:2379',
      `--secure-port=${API_PORT}`,
      `--advertise-address=${plan.address}`,
      `--service-cluster-ip-range=${plan.serviceCidr}`,
      `--endpoint-reconciler-type=${plan.endpointReconciler}`,
      `--tls-cert-file=${pki}/apiserver.crt`,
      `--tls-private-key-file=${pki}/apiserver.key`,
      `--client-ca-file=${pki}/ca.crt`,
      `--kubelet-client-certificate=${pki}/kubelet-client.crt`,
      `--kubelet-client-key=${pki}/kubelet-client.key`,
      '--kubelet-preferred-address-types=InternalIP,Hostname',
      `--service-account-key-file=${pki}/sa.pub`,
      `--service-account-signing-key-file=${pki}/sa.key`,
      '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
      '--authorization-mode=Node,RBAC',
      '--enable-admission-plugins=NodeRestriction',
      `--requestheader-client-ca-file=${pki}/front-proxy-ca.crt`,
      '--requestheader-allowed-names=front-proxy-client',
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      `--proxy-client-cert-file=${pki}/front-proxy-client.crt`,
      `--proxy-client-key-file=${pki}/front-proxy-client.key`,
      // Webhooks and extension servers are dialled at their pods: no kube-proxy runs beside a control plane.
      '--enable-aggregator-routing=true',
      '--allow-privileged=true',
      '--profiling=false',
      ...(plan.konnectivity ? [`--egress-selector-config-file=${pki}/egress-selector.json`] : []),
      ...plan.apiServerFlags,
    ];
  }

  #controllerManager(): string[] {
    const config = `${this.#pki}/kube-controller-manager.kubeconfig`;
    return [
      program('kube-controller-manager'),
      `--kubeconfig=${config}`,
      `--authentication-kubeconfig=${config}`,
      `--authorization-kubeconfig=${config}`,
      `--service-account-private-key-file=${this.#pki}/sa.key`,
      `--root-ca-file=${this.#pki}/ca.crt`,
      `--cluster-signing-cert-file=${this.#pki}/ca.crt`,
      `--cluster-signing-key-file=${this.#pki}/ca.key`,
      '--use-service-account-credentials',
      '--leader-elect=false',
      `--cluster-cidr=${this.plan.podPrefix}.0.0/16`,
      '--allocate-node-cidrs=false',
      `--flex-volume-plugin-dir=${this.host.folder}/volume-plugins`,
    ];
  }

  #scheduler(): string[] {
    const config = `${this.#pki}/kube-scheduler.kubeconfig`;
    return [
      program('kube-scheduler'),
      `--kubeconfig=${config}`,
      `--authentication-kubeconfig=${config}`,
      `--authorization-kubeconfig=${config}`,
      '--leader-elect=false',
    ];
  }

  #konnectivityServer(): string[] {
    return [
      program('proxy-server'),
      `--uds-name=${this.#konnectivitySocket}`,
      '--mode=grpc',
      '--server-port=0',
      `--agent-port=${KONNECTIVITY_PORT}`,
      `--cluster-cert=${this.#pki}/konnectivity-server.crt`,
      `--cluster-key=${this.#pki}/konnectivity-server.key`,
      '--agent-namespace=kube-system',
      '--agent-service-account=konnectivity-agent',
      '--authentication-audience=system:konnectivity-server',
      `--kubeconfig=${this.#pki}/konnectivity-server.kubeconfig`,
      '--delete-existing-uds-file',
    ];
  }
}
