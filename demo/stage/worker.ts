import { join } from 'node:path';
import type { WorkerMode } from '../../src/api/worker.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { createClient } from '../../src/kube/client/fetch-client.ts';
import { isKubeError } from '../../src/kube/kube-error.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { RESOURCES } from '../../src/kube/resource.ts';
import type { DaemonSet } from '../../src/tenant/pod.ts';
import { PROXY, PROXY_CONFIG } from '../../src/tenant/proxy-names.ts';
import { waitFor } from '../../world/wait.ts';
import type { DemoFolder } from './folder.ts';
import { freePort } from './ports.ts';
import { START_TIMEOUT_MS, Program } from './program.ts';
import type { Tenant } from './tenant.ts';

/** First ports to try; see {@link freePort}. */
const FIRST_PORT = 8444;
const FIRST_HTTP_PORT = 9441;
/** Interval between reads of the DaemonSet. */
const POLL_INTERVAL_MS = 200;

/**
 * A minimal worker of a tenant: a kubelet that runs a single DaemonSet. It runs the proxy with the arguments and files
 * of the DaemonSet, and reports its status. Without root, all addresses are on loopback.
 */
export class Worker implements AsyncDisposable {
  readonly tenant: Tenant;
  /** Port to which kube-proxy would forward connections to 10.96.0.1. */
  readonly port: number;
  readonly #httpPort: number;
  readonly #folder: DemoFolder;
  readonly #client: KubeClient;
  readonly #ended = new AbortController();
  readonly #polling: Promise<string>;
  #proxy: Program | undefined;
  #mode: WorkerMode | undefined;

  private constructor(
    tenant: Tenant,
    folder: DemoFolder,
    ports: { readonly port: number; readonly httpPort: number },
  ) {
    this.tenant = tenant;
    this.port = ports.port;
    this.#httpPort = ports.httpPort;
    this.#folder = folder;
    const { apiServer, ca, admin } = tenant;
    this.#client = createClient({
      server: `https://${apiServer}`,
      ca,
      namespace: 'default',
      credentials: { kind: 'certificate', cert: admin.certificate, key: admin.key },
    });
    this.#polling = this.#poll().catch(String);
  }

  /** Starts a worker, which then reads its DaemonSet at intervals. */
  static async start(tenant: Tenant, folder: DemoFolder): Promise<Worker> {
    const ports = { port: await freePort(FIRST_PORT), httpPort: await freePort(FIRST_HTTP_PORT) };
    return new Worker(tenant, folder, ports);
  }

  /** Mode of the proxy that is ready and reported as ready. */
  get mode(): WorkerMode | undefined {
    return this.#mode;
  }

  /** URL of the proxy's server with /healthz, /readyz and /metrics. */
  get http(): string {
    return `http://127.0.0.1:${this.#httpPort}`;
  }

  /** Waits until a proxy of this mode runs and is ready. */
  async runs(mode: WorkerMode, signal: AbortSignal): Promise<void> {
    const isReady = () => {
      signal.throwIfAborted();
      return this.mode === mode;
    };
    const state = `the proxy of tenant ${this.tenant.name} is ready in mode ${mode}`;
    await waitFor(state, isReady, { deadlineMs: START_TIMEOUT_MS });
  }

  /** Waits until the worker ends, and returns why. */
  async ended(): Promise<string> {
    return `the worker of tenant ${this.tenant.name} stopped: ${await this.#polling}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await this.#polling;
    await this.#proxy?.[Symbol.asyncDispose]();
  }

  async #poll(): Promise<never> {
    const { signal } = this.#ended;
    for (;;) {
      signal.throwIfAborted();
      const daemonSet = await this.#client.get<DaemonSet>(RESOURCES.daemonSet, PROXY, { signal });
      await this.#writeFiles(signal);
      await this.#runProxy(daemonSet && this.#proxyArguments(daemonSet));
      if (daemonSet !== undefined) await this.#report(daemonSet, signal);
      await Bun.sleep(POLL_INTERVAL_MS);
    }
  }

  /** Writes the files that the pod mounts. The proxy watches them, so a new certificate needs no restart. */
  async #writeFiles(signal: AbortSignal): Promise<void> {
    const secret = await this.#client.get<WithData>(RESOURCES.secret, PROXY, { signal });
    const configMap = await this.#client.get<WithData>(RESOURCES.configMap, PROXY_CONFIG, {
      signal,
    });
    const files = [
      ...Object.entries(secret?.data ?? {}).map(([name, data]) => [name, atob(data)] as const),
      ...Object.entries(configMap?.data ?? {}),
    ];
    for (const [name, text] of files) this.#folder.write(this.#fileName(name), text);
  }

  #fileName(name: string): string {
    return join(this.tenant.name, 'worker', name);
  }

  /**
   * Returns the arguments of the DaemonSet's proxy, with the node's addresses and paths replaced by those of the demo.
   * Undefined for Snicket's cleanup DaemonSet, which removes addresses from nodes: the demo adds none.
   */
  #proxyArguments({ spec }: DaemonSet): readonly string[] | undefined {
    const { containers } = spec.template.spec;
    const proxy = containers.find(({ args }) => args[0] === 'proxy');
    return proxy?.args.map((argument) =>
      argument
        .replace(/^--listen=.*/, `--listen=127.0.0.1:${this.port}`)
        .replace(/^--http=.*/, `--http=127.0.0.1:${this.#httpPort}`)
        .replace(/(?<==)\/etc\/snicket\//, `${this.#fileName('')}/`)
        .replace(/^(--grace|--drain)=.*/, '$1=0'),
    );
  }

  /** Restarts the proxy if its arguments have changed or it has ended. Without arguments, it stops the proxy. */
  async #runProxy(args: readonly string[] | undefined): Promise<void> {
    if (this.#proxy?.hasEnded === false && Bun.deepEquals(args, this.#proxy.args)) return;
    await this.#proxy?.[Symbol.asyncDispose]();
    this.#proxy = undefined;
    this.#mode = undefined;
    if (args === undefined) return;
    const name = `proxy-${this.tenant.name}`;
    const [folder, httpPort] = [this.#folder, this.#httpPort];
    this.#proxy = Program.start({ name, args, httpPort, folder });
  }

  /** Writes the status of a DaemonSet with one node, as kube-controller-manager does. */
  async #report({ metadata }: DaemonSet, signal: AbortSignal): Promise<void> {
    const proxy = this.#proxy;
    const isReady = proxy === undefined || (await proxy.isReady());
    const ready = isReady ? 1 : 0;
    const status = {
      observedGeneration: metadata.generation,
      desiredNumberScheduled: 1,
      currentNumberScheduled: 1,
      updatedNumberScheduled: 1,
      numberMisscheduled: 0,
      numberReady: ready,
      numberAvailable: ready,
    };
    const options = { subresource: 'status', signal } as const;
    try {
      await this.#client.patch(RESOURCES.daemonSet, PROXY, 'merge', { status }, options);
    } catch (error) {
      if (!isKubeError(error, 'NotFound')) throw error; // Snicket has deleted it in the meantime
    }
    const mode = proxy?.args.includes('--mode=terminate') ? 'Terminate' : 'Passthrough';
    this.#mode = isReady && proxy !== undefined ? mode : undefined;
  }
}

interface WithData extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}
