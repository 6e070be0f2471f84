/**
 * For tests only: an informer on a scripted server, with a manual clock.
 */
import { ManualClock } from '../../../clock/manual-clock.ts';
import { createClient } from '../../client/fetch-client.ts';
import type { Change } from '../cache.ts';
import { Informer, type InformerOptions } from '../informer.ts';
import type { KubeObject } from '../../object.ts';
import { RESOURCES } from '../../resource.ts';
import {
  startServer,
  type Exchange,
  type Script,
  type TestServer,
} from '../../transport/testing/server.ts';

/** A Service with one port. */
export interface Service extends KubeObject {
  readonly port?: number;
}

/** Returns a Service whose port differs in each version. */
export function service(name: string, resourceVersion: string, uid = `uid of ${name}`): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'tenants', uid, resourceVersion },
    port: Number(resourceVersion),
  };
}

/** Sends the response to a list. */
export function respondWithList(
  exchange: Exchange,
  resourceVersion: string,
  ...items: readonly Service[]
): void {
  exchange.respond(200, { kind: 'ServiceList', metadata: { resourceVersion }, items });
}

/** Returns a watch event as a line. */
export function eventLine(type: string, object: unknown): string {
  return `${JSON.stringify({ type, object })}\n`;
}

/** Options of {@link InformerLab.open}. */
export interface LabOptions extends Partial<InformerOptions<Service>> {
  /**
   * Whether requests time out by the system clock. For tests that advance the clock during requests: on a slow machine
   * all of them would time out. Default false.
   */
  readonly hasRealTimeouts?: boolean | undefined;
}

/** The informer, its server and its clock. Disposed with the scope. */
export class InformerLab implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly informer: Informer<Service>;
  /** For example `ADDED blue 1`. */
  readonly changes: string[] = [];
  readonly #abort = new AbortController();
  #server: TestServer;
  #running: Promise<void> | undefined;

  private constructor(server: TestServer, { hasRealTimeouts = false, ...options }: LabOptions) {
    this.#server = server;
    const access = { server: server.url, credentials: { kind: 'none' }, namespace: '' } as const;
    this.informer = new Informer<Service>({
      client: createClient(access, hasRealTimeouts ? {} : { clock: this.clock }),
      resource: RESOURCES.service,
      clock: this.clock,
      random: () => 0,
      ...options,
    });
    this.informer.onChange((change: Change<Service>) => {
      const { name, resourceVersion } = change.object.metadata;
      this.changes.push(`${change.type} ${name} ${resourceVersion}`);
    });
  }

  static async open(options: LabOptions = {}): Promise<InformerLab> {
    return new InformerLab(await startServer(() => {}), options);
  }

  get server(): TestServer {
    return this.#server;
  }

  /** All watch requests so far. */
  get watches(): readonly Exchange[] {
    return this.#server.exchanges.filter(({ query }) => query.has('watch'));
  }

  /** All list requests so far. */
  get lists(): readonly Exchange[] {
    return this.#reads.filter(({ query }) => query.get('limit') !== '1');
  }

  /** All requests for the current version so far. */
  get versionChecks(): readonly Exchange[] {
    return this.#reads.filter(({ query }) => query.get('limit') === '1');
  }

  get #reads(): readonly Exchange[] {
    return this.#server.exchanges.filter(({ query }) => !query.has('watch'));
  }

  /** Sets the scripts for lists and watches. */
  serve(list: Script, watch: Script = (exchange) => exchange.open()): void {
    this.#server.script = (exchange) =>
      exchange.query.has('watch') ? watch(exchange) : list(exchange);
  }

  run(): void {
    this.#running = this.informer.run(this.#abort.signal);
  }

  /** Stops the informer and waits for it. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#running;
  }

  /** Stops the server. */
  async stopServer(): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }

  /** Starts a server at the same address. */
  async restartServer(list: Script): Promise<void> {
    this.#server = await startServer(() => {}, { port: this.#server.port });
    this.serve(list);
  }

  /** Advances the clock until a condition holds. */
  async until(claim: () => boolean, what: string, stepMs = 0): Promise<void> {
    const deadline = performance.now() + 200_000;
    while (!claim()) {
      if (performance.now() > deadline) throw new Error(`not in time: ${what}`);
      this.clock.advance(stepMs);
      await Bun.sleep(1);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.#server[Symbol.asyncDispose]();
  }
}
