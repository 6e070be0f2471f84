/** All engine threads of a gateway. They share the port, and get the same routes and keys. */
import {
  COLUMN,
  Counters,
  GLOBAL,
  sumOver,
  type GlobalCounter,
  type SlotCounter,
} from '../../engine/counters.ts';
import type { ListenAddress } from '../../net/listen-address.ts';
import type { Limits } from '../../engine/limits.ts';
import type { EngineChoice } from '../../engine/open-engine.ts';
import { countersLayout } from '../reasons.ts';
import type { AssignedRoute, RouteChanges, SlotUse } from '../routes/route-table.ts';
import { RateLimit } from '../router/rate-limit.ts';
import type { TenantLimits } from '../router/route-index.ts';
import type { ProxyProtocol } from '../router/trusted-sources.ts';
import { EngineThread, type EngineThreadEvents } from './engine-thread.ts';
import type { ThreadStart } from './messages.ts';

/** Options of the engine threads. */
interface EngineThreadsOptions extends EngineThreadEvents {
  readonly threads: number;
  readonly engine: EngineChoice;
  readonly listen: readonly ListenAddress[];
  readonly slots: number;
  readonly limits: Partial<Limits>;
  readonly maxConnections: number;
  readonly tenantLimits: TenantLimits;
  readonly proxyProtocol: ProxyProtocol;
  readonly hasAccessLog: boolean;
  /** Returns the active routes, for a thread that starts. */
  readonly routes: () => readonly AssignedRoute[];
}

/** The engine threads of a gateway. */
export class EngineThreads implements SlotUse {
  readonly all: readonly EngineThread[];

  readonly #allValues: readonly Float64Array[];
  readonly #slots: number;
  #addresses: readonly ListenAddress[];
  #masterKeys: readonly Uint8Array[] = [];
  #version = 0;

  constructor(options: EngineThreadsOptions) {
    const layout = countersLayout(options.slots);
    const all = Array.from({ length: options.threads }, () => new Counters(layout));
    const rates = new RateLimit(options.slots);
    this.#allValues = all.map(({ values }) => values);
    this.#slots = options.slots;
    this.#addresses = options.listen;
    this.all = all.map((counters, index) => {
      const startData = (): ThreadStart => ({
        type: 'start',
        index,
        engine: options.engine,
        listen: this.#addresses,
        slots: this.#slots,
        counters: all.map(({ buffer }) => buffer),
        rates: rates.buffer,
        limits: options.limits,
        maxConnections: options.maxConnections,
        tenantLimits: options.tenantLimits,
        proxyProtocol: options.proxyProtocol,
        hasAccessLog: options.hasAccessLog,
        routes: options.routes(),
        version: this.#version,
        masterKeys: this.#masterKeys,
      });
      return new EngineThread(index, counters, startData, options);
    });
  }

  /**
   * Starts all threads and returns the addresses they listen on. The first thread starts alone: if the port is 0, it
   * finds a free port, which the others share.
   *
   * @throws ThreadStartError
   */
  async start(): Promise<readonly ListenAddress[]> {
    const [first, ...others] = this.all;
    this.#addresses = (await first?.start()) ?? [];
    await Promise.all(others.map((thread) => thread.start()));
    return this.#addresses;
  }

  /** Sends changes of the routes to all threads. */
  changeRoutes(changes: RouteChanges): void {
    if (changes.set.length === 0 && changes.removed.length === 0) return;
    this.#version++;
    for (const thread of this.all) {
      thread.send({ type: 'routes', version: this.#version, changes });
    }
  }

  /** Whether all running threads have applied the current routes. */
  get isUpToDate(): boolean {
    return this.all.every((thread) => thread.hasApplied(this.#version));
  }

  changeKeys(masterKeys: readonly Uint8Array[]): void {
    this.#masterKeys = masterKeys;
    for (const thread of this.all) thread.send({ type: 'keys', masterKeys });
  }

  /** Returns a global counter, summed over all threads. */
  global(name: GlobalCounter): number {
    return this.#sum(GLOBAL[name]);
  }

  /** Returns a counter of one slot, summed over all threads. */
  slotSum(slot: number, name: SlotCounter): number {
    const row = this.all[0]?.counters.row(slot) ?? 0;
    return this.#sum(row + COLUMN[name]);
  }

  /** Returns the number of dials by bucket, over all threads. See {@link Counters.dialBuckets}. */
  dialBuckets(): readonly number[] {
    const sums: number[] = [];
    for (const { counters } of this.all) {
      for (const [bucket, count] of counters.dialBuckets().entries()) {
        sums[bucket] = (sums[bucket] ?? 0) + count;
      }
    }
    return sums;
  }

  /** Returns the total duration of all dials, over all threads. */
  totalDialMs(): number {
    return this.all.reduce((sum, { counters }) => sum + counters.totalDialMs(), 0);
  }

  isInUse(slot: number): boolean {
    return this.slotSum(slot, 'open') !== 0;
  }

  resetSlot(slot: number): void {
    for (const { counters } of this.all) counters.resetSlot(slot);
  }

  /** Stops all threads with their connections, and waits until they have ended. */
  async stop(): Promise<void> {
    await Promise.all(this.all.map((thread) => thread.stop()));
  }

  #sum(index: number): number {
    return sumOver(this.#allValues, index);
  }
}
