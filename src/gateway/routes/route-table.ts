/**
 * The routes in force, on the main thread, and what changes from one version of them to the next.
 *
 * Each route has a slot: the row in every thread's counters, and the number by which threads know it. A slot stays with
 * its host as long as tenant and kind do. After that it rests until its last connection is over, because that still
 * counts there, and is then wiped and given to another.
 */
import { isSameRoute, type Route } from './route.ts';

/** A route and its slot. */
export interface PlacedRoute {
  readonly slot: number;
  readonly route: Route;
}

/** What to do to have the new version of the routes. Plain data, for other threads. */
export interface RouteChanges {
  readonly set: readonly PlacedRoute[];
  /** Slots whose route is gone. */
  readonly removed: readonly number[];
}

/** More routes than slots. */
export class SlotsExhausted extends RangeError {
  constructor(slots: number) {
    super(
      `more than ${slots} routes, those just removed included; spread them over several gateways`,
    );
    this.name = 'SlotsExhausted';
  }
}

/** Who counts by slots, and can say whether anybody still does. */
export interface SlotUse {
  /** Whether a connection is open in this slot, in any thread. */
  isInUse(slot: number): boolean;
  /** Sets all its numbers to zero. */
  wipe(slot: number): void;
}

/** How long a slot rests at least: until every thread has certainly heard that its route is gone. */
const REST_MS = 30_000;

/** The table. */
export class RouteTable {
  readonly #slots: number;
  readonly #use: SlotUse;
  #byHost = new Map<string, PlacedRoute>();
  /** The same in a row, made when it is asked for. */
  #list: readonly PlacedRoute[] | undefined;
  #fresh = 0;
  readonly #free: number[] = [];
  #resting: { readonly slot: number; readonly sinceMs: number }[] = [];

  constructor(slots: number, use: SlotUse) {
    this.#slots = slots;
    this.#use = use;
  }

  get size(): number {
    return this.#byHost.size;
  }

  /** The route of a host in lower case. */
  find(host: string): Route | undefined {
    return this.#byHost.get(host)?.route;
  }

  /** All of them: for a thread that has none. */
  routes(): readonly PlacedRoute[] {
    this.#list ??= [...this.#byHost.values()];
    return this.#list;
  }

  /**
   * Puts these routes in force and says what changed.
   *
   * @throws SlotsExhausted, and then nothing has changed.
   */
  replace(routes: readonly Route[], nowMs: number): RouteChanges {
    const before = this.#byHost;
    const after = new Map<string, PlacedRoute>();
    const set: PlacedRoute[] = [];
    const removed: number[] = [];
    const homeless: Route[] = [];
    for (const route of routes) {
      const held = before.get(route.host);
      if (held === undefined || !isSameOwner(held.route, route)) {
        homeless.push(route);
      } else {
        const placed = isSameRoute(held.route, route) ? held : { slot: held.slot, route };
        if (placed !== held) set.push(placed);
        after.set(route.host, placed);
      }
    }
    this.#reclaim(nowMs);
    if (homeless.length > this.#free.length + this.#slots - this.#fresh) {
      throw new SlotsExhausted(this.#slots);
    }
    for (const route of homeless) {
      const placed = { slot: this.#free.pop() ?? this.#fresh++, route };
      set.push(placed);
      after.set(route.host, placed);
    }
    for (const [host, { slot }] of before) {
      if (after.get(host)?.slot !== slot) removed.push(slot);
    }
    for (const slot of removed) this.#resting.push({ slot, sinceMs: nowMs });
    this.#byHost = after;
    this.#list = undefined;
    return { set, removed };
  }

  #reclaim(nowMs: number): void {
    this.#resting = this.#resting.filter(({ slot, sinceMs }) => {
      if (nowMs - sinceMs < REST_MS || this.#use.isInUse(slot)) return true;
      this.#use.wipe(slot);
      this.#free.push(slot);
      return false;
    });
  }
}

function isSameOwner(a: Route, b: Route): boolean {
  return a.tenant === b.tenant && a.kind === b.kind;
}
