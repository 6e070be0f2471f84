/**
 * For tests only: an informer on a server that follows a script, with a clock that a test moves.
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

/** A Service with one port, as much of it as matters. */
export interface Service extends KubeObject {
  readonly port?: number;
}

/** An object, of which each version is another. */
export function service(name: string, resourceVersion: string, uid = `uid of ${name}`): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'tenants', uid, resourceVersion },
    port: Number(resourceVersion),
  };
}

/** Answers a list. */
export function answerList(
  exchange: Exchange,
  resourceVersion: string,
  ...items: readonly Service[]
): void {
  exchange.answer(200, { kind: 'ServiceList', metadata: { resourceVersion }, items });
}

/** One event of a watch, as a line. */
export function eventLine(type: string, object: unknown): string {
  return `${JSON.stringify({ type, object })}\n`;
}

/** Options of {@link InformerLab.open}. */
export interface LabOptions extends Partial<InformerOptions<Service>> {
  /**
   * Whether requests time out by the clock of the machine. For a test whose clock runs on during requests: on a slow machine
   * all of them would time out. Default false.
   */
  readonly hasRealTimeouts?: boolean | undefined;
}

/** The informer and all around it; ends with the scope. */
export class InformerLab implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly informer: Informer<Service>;
  /** As `ADDED blue 1`. */
  readonly told: string[] = [];
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
      this.told.push(`${change.type} ${name} ${resourceVersion}`);
    });
  }

  static async open(options: LabOptions = {}): Promise<InformerLab> {
    return new InformerLab(await startServer(() => {}), options);
  }

  get server(): TestServer {
    return this.#server;
  }

  /** All requests of watches so far. */
  get watches(): readonly Exchange[] {
    return this.#server.exchanges.filter(({ query }) => query.has('watch'));
  }

  /** All requests of lists so far. */
  get lists(): readonly Exchange[] {
    return this.#reads.filter(({ query }) => query.get('limit') !== '1');
  }

  /** All requests of the current version so far. */
  get versionChecks(): readonly Exchange[] {
    return this.#reads.filter(({ query }) => query.get('limit') === '1');
  }

  get #reads(): readonly Exchange[] {
    return this.#server.exchanges.filter(({ query }) => !query.has('watch'));
  }

  /** What lists and watches get. */
  serve(list: Script, watch: Script = (exchange) => exchange.open()): void {
    this.#server.script = (exchange) =>
      exchange.query.has('watch') ? watch(exchange) : list(exchange);
  }

  run(): void {
    this.#running = this.informer.run(this.#abort.signal);
  }

  /** Ends the informer, and waits for that. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#running;
  }

  /** Nobody listens any more. */
  async goDown(): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }

  /** Somebody listens again, at the same address. */
  async comeUp(list: Script): Promise<void> {
    this.#server = await startServer(() => {}, { port: this.#server.port });
    this.serve(list);
  }

  /** Lets time go by until a claim holds. */
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
