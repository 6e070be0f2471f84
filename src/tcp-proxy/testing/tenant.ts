/**
 * For tests only: a tenant as set up by Steward, with an API server, an edge in front of it, and nodes with a manual
 * clock.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '../../clock/manual-clock.ts';
import { until } from '../../net/testing/peer.ts';
import { createClient } from '../../kube/client/fetch-client.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { TestApiServer } from '../../kube/testing/api-server.ts';
import { ApiServer } from '../../proxy/testing/api-server.ts';
import { TestAuthority } from '../../net/testing/certificates.ts';
import { POD_NAMES } from '../../proxy/testing/lab.ts';
import { createLogger } from '../../telemetry/log.ts';
import type { EndpointSlice } from '../../kube/endpoints/endpoint-slice.ts';
import { addressesIn, KUBERNETES } from '../kubernetes-slice.ts';
import { settingsOf, type TcpProxyFlags } from '../settings.ts';
import { startTcpProxy, type RunningTcpProxy } from '../tcp-proxy.ts';

/** The tenant's API host. */
export const HOST = 'green.k8s.test';
/** Interval between two reconciles of a proxy. */
export const ROUND_MS = 5_000;

/** Options of {@link Tenant.start}. The defaults are those of Steward. */
export interface NodeOptions {
  /** POD_IP. Default: unset. */
  readonly address?: string | undefined;
  readonly flags?: Partial<TcpProxyFlags>;
  /** Default: the port of the tenant's edge. */
  readonly edgePort?: number;
}

/** A tenant. Disposing it stops its proxies. */
export class Tenant implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'snicket-tcp-proxy-'));
  readonly authority: TestAuthority;
  readonly api: TestApiServer;
  readonly edge: ApiServer;
  readonly clock = new ManualClock();
  readonly lines: string[] = [];
  readonly #running = new Set<RunningTcpProxy>();

  private constructor(authority: TestAuthority, api: TestApiServer, edge: ApiServer) {
    this.authority = authority;
    this.api = api;
    this.edge = edge;
    api.seed(SERVICE);
  }

  static async create(): Promise<Tenant> {
    const authority = await TestAuthority.create();
    const serving = await authority.issue({ names: [HOST, '127.0.0.1', 'kubernetes.default.svc'] });
    const api = await TestApiServer.start({ serving: { ...serving, ca: authority.cert } });
    const edge = await ApiServer.start({ serving, clientCa: authority.cert });
    const tenant = new Tenant(authority, api, edge);
    const leaf = await authority.issue({ names: POD_NAMES });
    tenant.#write('ca.crt', authority.cert);
    tenant.#write('namespace', 'kube-system');
    tenant.#write('tls.crt', leaf.cert);
    tenant.#write('tls.key', leaf.key);
    const { credentials } = api.access;
    tenant.#write('token', credentials.kind === 'token' ? credentials.token : '');
    return tenant;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Starts the proxy of a node with Steward's flags, whether or not the upstream is reachable. */
  async start({
    address,
    flags = {},
    edgePort = this.edge.port,
  }: NodeOptions): Promise<RunningTcpProxy> {
    const { port } = new URL(this.api.url);
    const env = {
      KUBERNETES_SERVICE_HOST: '127.0.0.1',
      KUBERNETES_SERVICE_PORT: port,
      POD_IP: address,
    };
    const settings = settingsOf(
      {
        listenAddr: '127.0.0.1:0',
        upstreamAddr: `127.0.0.1:${edgePort}`,
        upstreamSni: HOST,
        tlsCertFile: this.path('tls.crt'),
        tlsKeyFile: this.path('tls.key'),
        upstreamInsecure: true,
        serviceName: SERVICE.metadata.name,
        http: [],
        reconcileIntervalMs: 30_000,
        ...flags,
      },
      env,
    );
    const running = await startTcpProxy(settings, {
      env,
      serviceAccountFolder: this.folder,
      clock: this.clock,
      identity: `node-of-${address}-${crypto.randomUUID()}`,
      log: createLogger({ level: 'debug', write: (line) => this.lines.push(line) }),
    });
    this.#running.add(running);
    return running;
  }

  /** Like {@link start}, and waits for the first reconcile of the slice. */
  async node(options: NodeOptions): Promise<RunningTcpProxy> {
    const running = await this.start(options);
    await until(() => running.proxy.notReady() === undefined, 'a handshake with the edge');
    // Advance once, for the readiness check every 250 ms. Other proxies must not reach their next round.
    this.clock.advance(250);
    await until(() => running.reconciler.counts.reconciles > 0, 'the first round');
    return running;
  }

  /** Advances the clock round by round. Each running proxy finishes its round before the next begins. */
  async pass(ms: number): Promise<void> {
    for (let passedMs = 0; passedMs < ms; passedMs += ROUND_MS) {
      const before = [...this.#running].map(
        (proxy) => [proxy, proxy.reconciler.counts.reconciles] as const,
      );
      this.clock.advance(ROUND_MS);
      const isFinished = (): boolean =>
        before.every(([proxy, reconciles]) => proxy.reconciler.counts.reconciles > reconciles);
      await until(isFinished, 'a round of every proxy', 200_000);
      await Bun.sleep(1); // until all proxies wait for the next round
    }
  }

  /** Stops a proxy without cleanup, as if its node had failed. */
  kill(running: RunningTcpProxy): void {
    running.stop();
    this.#running.delete(running);
  }

  /** Stops a proxy gracefully. */
  async terminate(running: RunningTcpProxy): Promise<void> {
    this.#running.delete(running);
    await running.leave(AbortSignal.timeout(5000));
    running.stop();
  }

  slice(): EndpointSlice | undefined {
    return this.api.read(RESOURCES.endpointSlice, KUBERNETES) as unknown as
      | EndpointSlice
      | undefined;
  }

  /** Returns the sorted addresses of the slice. */
  addresses(): readonly string[] {
    return addressesIn(this.slice()).toSorted();
  }

  /** Writes the slice as another field manager. */
  async overwrite(manager: string, change: Partial<EndpointSlice>): Promise<void> {
    const client = createClient(this.api.access, { fieldManager: manager });
    const found = await client.get<EndpointSlice>(RESOURCES.endpointSlice, KUBERNETES);
    if (found === undefined) throw new Error('there is no slice');
    const metadata = { ...found.metadata, ...change.metadata };
    await client.replace(RESOURCES.endpointSlice, { ...found, ...change, metadata });
  }

  /** Returns the log lines that contain the text. */
  loggedLines(text: string): readonly string[] {
    return this.lines.filter((line) => line.includes(text));
  }

  #write(name: string, content: string): void {
    writeFileSync(this.path(name), content);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const running of this.#running) running.stop();
    await this.edge[Symbol.asyncDispose]();
    await this.api[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true });
  }
}

/** The Service that Steward creates with its proxy. */
export const SERVICE = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'kube-system', name: 'steward-tcp-proxy' },
  spec: { clusterIP: '10.96.7.7', ports: [{ name: 'proxy', port: 6443 }] },
} as const;

/** The slice of steward-tcp-proxy. Its endpoint is the ClusterIP of a Service, which kube-proxy does not forward to. */
export const STEWARD_SLICE = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    ...KUBERNETES,
    labels: {
      'kubernetes.io/service-name': 'kubernetes',
      'endpointslice.kubernetes.io/managed-by': 'steward-tcp-proxy',
    },
  },
  addressType: 'IPv4',
  ports: [{ name: 'https', port: 6443, protocol: 'TCP' }],
  endpoints: [
    { addresses: ['10.96.7.7'], conditions: { ready: true, serving: true, terminating: false } },
  ],
} as const;
