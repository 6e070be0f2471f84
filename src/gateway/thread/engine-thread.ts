/**
 * The program of an engine's thread: an engine, its switchboard, and the messages of the main thread. It imports as
 * little as possible, since every thread has its own copy of all it imports.
 */
import { Counters } from '../../engine/counters.ts';
import type { Engine } from '../../engine/engine.ts';
import type { ListenAddress } from '../../net/listen-address.ts';
import { adviceFor, CannotListen, listenOnAll } from '../../net/listen-all.ts';
import { openEngine } from '../../engine/open-engine.ts';
import { countersLayout } from '../reasons.ts';
import { ConnectionLog } from '../switchboard/connection-log.ts';
import { GatewaySwitchboard } from '../switchboard/gateway-switchboard.ts';
import { RateLimit } from '../switchboard/rate-limit.ts';
import { RouteBook } from '../switchboard/route-book.ts';
import type { TenantGate } from '../switchboard/tenant-gate.ts';
import type { FromThread, ThreadStart, ToThread } from './messages.ts';

/** How long a line of the access log may wait for others. */
const FLUSH_MS = 250;

declare const self: Worker;

function say(message: FromThread): void {
  self.postMessage(message);
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What one thread has. Messages are obeyed in their order, from the first moment on. */
class EngineThread {
  readonly #start: ThreadStart;
  readonly #book: RouteBook;
  #gate: TenantGate | undefined;
  readonly #log: ConnectionLog | undefined;
  #engine: Engine | undefined;
  /** Told to leave, perhaps before it listened. */
  #isLeaving = false;
  #keyChanges: Promise<void> = Promise.resolve();

  constructor(start: ThreadStart) {
    this.#start = start;
    this.#book = new RouteBook(start.tenantLimits);
    this.#book.apply({ set: start.routes, removed: [] });
    if (!start.hasAccessLog) return;
    const log = new ConnectionLog((lines, count) => say({ type: 'access-log', lines, count }));
    setInterval(() => log.flush(), FLUSH_MS);
    this.#log = log;
  }

  /** Cryptography takes 2 MB: loaded with the first key. */
  async #changeKeys(masterKeys: readonly Uint8Array[]): Promise<void> {
    if (masterKeys.length === 0) return;
    const { TenantGate } = await import('../switchboard/tenant-gate.ts');
    this.#gate ??= new TenantGate();
    this.#gate.replaceKeys(masterKeys);
  }

  /** @throws if it cannot; what it has opened by then is left to {@link stop}. */
  async listen(): Promise<void> {
    const start = this.#start;
    await this.#changeKeys(start.masterKeys);
    const layout = countersLayout(start.slots);
    const all = start.counters.map((buffer) => new Counters(layout, buffer));
    const counters = all[start.index];
    if (counters === undefined) throw new RangeError(`thread ${start.index} has no counters`);
    const allValues = all.map(({ values }) => values);
    const switchboard = new GatewaySwitchboard({
      book: this.#book,
      gate: () => this.#gate,
      counters,
      allValues,
      rates: new RateLimit(start.slots, start.rates),
      proxyProtocol: start.proxyProtocol,
      maxConnections: start.maxConnections,
      log: this.#log,
    });
    const { engine, fallbackReason } = await openEngine(start.engine, {
      switchboard,
      counters,
      allValues,
      limits: start.limits,
      onFault: (error) => {
        const stack = error instanceof Error ? error.stack : undefined;
        say({ type: 'fault', sentence: sentenceOf(error), stack });
      },
    });
    this.#engine = engine;
    if (this.#isLeaving) throw new Error('told to leave before it listened');
    const { addresses, skipped } = listenOn(engine, start.listen);
    say({ type: 'listening', addresses, skipped, engine: engine.name, fallbackReason });
  }

  obey(message: Exclude<ToThread, ThreadStart>): void {
    switch (message.type) {
      case 'routes':
        this.#book.apply(message.changes);
        say({ type: 'applied', version: message.version });
        break;
      case 'keys':
        this.#keyChanges = this.#keyChanges
          .then(() => this.#changeKeys(message.masterKeys))
          // Here, so that keys that cannot be used do not stand in the way of the next.
          .catch((error: unknown) => say({ type: 'keys-refused', sentence: sentenceOf(error) }));
        break;
      case 'stop-accepting':
        this.#isLeaving = true;
        this.#engine?.stopAccepting();
        break;
      case 'close-oldest':
        // A thread that does not listen yet has none.
        this.#engine?.closeOldest(message.count);
        break;
      case 'stop':
        this.stop();
        say({ type: 'stopped' });
        break;
    }
  }

  /** Closes every socket. The end of a thread alone would not: to the system they belong to the process. */
  stop(): void {
    this.#isLeaving = true;
    this.#engine?.stop();
    this.#engine = undefined;
    this.#log?.flush();
  }
}

/** Listens everywhere; `skipped` says where not, on a machine without IPv6. */
function listenOn(engine: Engine, wanted: readonly ListenAddress[]) {
  const skipped: string[] = [];
  const listen = ({ address, port }: ListenAddress): ListenAddress => ({
    address,
    port: engine.listen({ address, port, reusePort: true }),
  });
  try {
    const addresses = listenOnAll({ listen }, wanted, ({ message }) => skipped.push(message));
    return { addresses, skipped };
  } catch (error) {
    if (!(error instanceof CannotListen)) throw error;
    throw new Error(`${error.message}; ${adviceFor(error)}`, { cause: error });
  }
}

let thread: EngineThread | undefined;

/** A bug outside of any connection. To go on in an unknown state would be worse than to begin anew. */
function die(error: unknown): void {
  thread?.stop();
  const stack = error instanceof Error ? error.stack : undefined;
  say({ type: 'stopped', sentence: stack ?? sentenceOf(error) });
}

process.on('uncaughtException', die);

self.addEventListener('message', ({ data }: MessageEvent<ToThread>) => {
  try {
    if (data.type === 'start') start(data);
    else thread?.obey(data);
  } catch (error) {
    die(error);
  }
});

function start(data: ThreadStart): void {
  const started = new EngineThread(data);
  thread = started;
  started.listen().catch((error: unknown) => {
    // What it had opened by then would stay open in the process, with nobody behind it.
    started.stop();
    say({ type: 'cannot-start', sentence: sentenceOf(error) });
  });
}
