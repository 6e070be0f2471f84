/**
 * The program of an engine's thread: an engine, its switchboard, and the messages of the main thread. It imports as
 * little as possible, since every thread has its own copy of all it imports.
 */
import { Counters } from '../../engine/counters.ts';
import type { Engine } from '../../engine/engine.ts';
import { formatListenAddress, type ListenAddress } from '../../engine/listen-address.ts';
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

  async listen(): Promise<void> {
    const start = this.#start;
    await this.#changeKeys(start.masterKeys);
    const layout = countersLayout(start.slots);
    const all = start.counters.map((buffer) => new Counters(layout, buffer));
    const counters = all[start.index];
    if (counters === undefined) throw new RangeError(`thread ${start.index} has no counters`);
    const switchboard = new GatewaySwitchboard({
      book: this.#book,
      gate: () => this.#gate,
      counters,
      allValues: all.map(({ values }) => values),
      rates: new RateLimit(start.slots, start.rates),
      proxyProtocol: start.proxyProtocol,
      maxConnections: start.maxConnections,
      log: this.#log,
    });
    const { engine, fallbackReason } = await openEngine(start.engine, {
      switchboard,
      counters,
      limits: start.limits,
      onFault: (error) => {
        const stack = error instanceof Error ? error.stack : undefined;
        say({ type: 'fault', sentence: sentenceOf(error), stack });
      },
    });
    this.#engine = engine;
    const addresses = listenOn(engine, start.listen);
    say({ type: 'listening', addresses, engine: engine.name, fallbackReason });
  }

  obey(message: Exclude<ToThread, ThreadStart>): void {
    switch (message.type) {
      case 'routes':
        this.#book.apply(message.changes);
        say({ type: 'applied', version: message.version });
        break;
      case 'keys':
        this.#keyChanges = this.#keyChanges.then(() => this.#changeKeys(message.masterKeys));
        break;
      case 'stop-accepting':
        this.#engine?.stopAccepting();
        break;
      case 'close-oldest':
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
    this.#engine?.stop();
    this.#log?.flush();
  }
}

/** Listens everywhere. Only where every address was meant may IPv6 be missing: some kernels are without. */
function listenOn(engine: Engine, addresses: readonly ListenAddress[]): ListenAddress[] {
  const taken: ListenAddress[] = [];
  for (const { address, port } of addresses) {
    try {
      const reusePort = true;
      taken.push({ address, port: engine.listen({ address, port, reusePort }) });
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
      const hasOthers = address === '::' && taken.length > 0;
      if (hasOthers && (code === 'EAFNOSUPPORT' || code === 'EADDRNOTAVAIL')) continue;
      const place = formatListenAddress({ address, port });
      throw new Error(`cannot listen on ${place} (${code}); ${adviceFor(code)}`, { cause: error });
    }
  }
  return taken;
}

function adviceFor(code: string): string {
  switch (code) {
    case 'EADDRINUSE':
      return 'another program has that port: stop it, or choose another with --listen';
    case 'EACCES':
      return 'ports below 1024 need the capability NET_BIND_SERVICE: choose a higher one with --listen';
    case 'EADDRNOTAVAIL':
      return 'this machine has no such address: choose another with --listen';
    default:
      return 'choose another address with --listen';
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
  thread = new EngineThread(data);
  thread
    .listen()
    .catch((error: unknown) => say({ type: 'cannot-start', sentence: sentenceOf(error) }));
}
