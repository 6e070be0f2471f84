/**
 * The program of an engine thread: an engine, its router, and the messages of the main thread. It imports as little as
 * possible, since every thread has its own copy of each imported module.
 */
import { Counters } from '../../engine/counters.ts';
import type { Engine } from '../../engine/engine.ts';
import type { ListenAddress } from '../../net/listen-address.ts';
import { adviceFor, CannotListen, listenOnAll } from '../../net/listen-all.ts';
import { openEngine } from '../../engine/open-engine.ts';
import { countersLayout } from '../reasons.ts';
import { ConnectionLog } from '../router/connection-log.ts';
import { GatewayRouter } from '../router/gateway-router.ts';
import { RateLimit } from '../router/rate-limit.ts';
import { RouteIndex } from '../router/route-index.ts';
import type { TenantHeaderVerifier } from '../router/tenant-header-verifier.ts';
import type { FromThread, ThreadStart, ToThread } from './messages.ts';

/** Maximum time that a line of the access log waits for a batch. */
const FLUSH_MS = 250;

declare const self: Worker;

function post(message: FromThread): void {
  self.postMessage(message);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The state of one thread. It handles messages in order, even before it listens. */
class ThreadProgram {
  readonly #start: ThreadStart;
  readonly #routes: RouteIndex;
  #verifier: TenantHeaderVerifier | undefined;
  readonly #log: ConnectionLog | undefined;
  #engine: Engine | undefined;
  /** Set once the thread should stop accepting, perhaps before it listens. */
  #isStopping = false;
  #keyChanges: Promise<void> = Promise.resolve();

  constructor(start: ThreadStart) {
    this.#start = start;
    this.#routes = new RouteIndex(start.tenantLimits);
    this.#routes.apply({ set: start.routes, removed: [] });
    if (!start.hasAccessLog) return;
    const log = new ConnectionLog((lines, count) => post({ type: 'access-log', lines, count }));
    setInterval(() => log.flush(), FLUSH_MS);
    this.#log = log;
  }

  /** Imports the cryptography, which takes 2 MB, only when there are keys. */
  async #changeKeys(masterKeys: readonly Uint8Array[]): Promise<void> {
    if (masterKeys.length === 0) return;
    const { TenantHeaderVerifier } = await import('../router/tenant-header-verifier.ts');
    this.#verifier ??= new TenantHeaderVerifier();
    this.#verifier.replaceKeys(masterKeys);
  }

  /** Opens the engine and listens. @throws if it cannot. The caller then calls {@link stop} to close what is open. */
  async listen(): Promise<void> {
    const start = this.#start;
    await this.#changeKeys(start.masterKeys);
    const layout = countersLayout(start.slots);
    const all = start.counters.map((buffer) => new Counters(layout, buffer));
    const counters = all[start.index];
    if (counters === undefined) throw new RangeError(`thread ${start.index} has no counters`);
    const allValues = all.map(({ values }) => values);
    const router = new GatewayRouter({
      routes: this.#routes,
      verifier: () => this.#verifier,
      counters,
      allValues,
      rates: new RateLimit(start.slots, start.rates),
      proxyProtocol: start.proxyProtocol,
      maxConnections: start.maxConnections,
      log: this.#log,
    });
    const { engine, fallbackReason } = await openEngine(start.engine, {
      router,
      counters,
      allValues,
      limits: start.limits,
      onFault: (error) => {
        const stack = error instanceof Error ? error.stack : undefined;
        post({ type: 'fault', error: messageOf(error), stack });
      },
    });
    this.#engine = engine;
    if (this.#isStopping) throw new Error('stopped before it could listen');
    const { addresses, skipped } = listenOn(engine, start.listen);
    post({ type: 'listening', addresses, skipped, engine: engine.name, fallbackReason });
  }

  handle(message: Exclude<ToThread, ThreadStart>): void {
    switch (message.type) {
      case 'routes':
        this.#routes.apply(message.changes);
        post({ type: 'applied', version: message.version });
        break;
      case 'keys':
        this.#keyChanges = this.#keyChanges
          .then(() => this.#changeKeys(message.masterKeys))
          // Caught here, so that unusable keys do not block later ones.
          .catch((error: unknown) => post({ type: 'keys-refused', error: messageOf(error) }));
        break;
      case 'stop-accepting':
        this.#isStopping = true;
        this.#engine?.stopAccepting();
        break;
      case 'close-oldest':
        // A thread that does not listen yet has no connections.
        this.#engine?.closeOldest(message.count);
        break;
      case 'stop':
        this.stop();
        post({ type: 'stopped' });
        break;
    }
  }

  /** Closes every socket. The end of the thread would not close them, because they belong to the process. */
  stop(): void {
    this.#isStopping = true;
    this.#engine?.stop();
    this.#engine = undefined;
    this.#log?.flush();
  }
}

/** Listens on all addresses. `skipped` has the reason for each skipped address, on a machine without IPv6. */
function listenOn(engine: Engine, requested: readonly ListenAddress[]) {
  const skipped: string[] = [];
  const listen = ({ address, port }: ListenAddress): ListenAddress => ({
    address,
    port: engine.listen({ address, port, reusePort: true }),
  });
  try {
    const addresses = listenOnAll({ listen }, requested, ({ message }) => skipped.push(message));
    return { addresses, skipped };
  } catch (error) {
    if (!(error instanceof CannotListen)) throw error;
    throw new Error(`${error.message}; ${adviceFor(error)}`, { cause: error });
  }
}

let thread: ThreadProgram | undefined;

/** Handles an error outside of any connection. The state is unknown then, so the thread ends and is restarted. */
function crash(error: unknown): void {
  thread?.stop();
  const stack = error instanceof Error ? error.stack : undefined;
  post({ type: 'stopped', error: stack ?? messageOf(error) });
}

process.on('uncaughtException', crash);

self.addEventListener('message', ({ data }: MessageEvent<ToThread>) => {
  try {
    if (data.type === 'start') start(data);
    else thread?.handle(data);
  } catch (error) {
    crash(error);
  }
});

function start(data: ThreadStart): void {
  const started = new ThreadProgram(data);
  thread = started;
  started.listen().catch((error: unknown) => {
    // Closes the sockets that are open already. They would outlive the thread.
    started.stop();
    post({ type: 'cannot-start', error: messageOf(error) });
  });
}
