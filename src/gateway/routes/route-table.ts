/**
 * The routes in force, on the main thread, and what changes from one version of them to the next.
 *
 * Each route has a slot: the row in every thread's counters, and the number by which threads know it. A slot stays with
 * its host as long as tenant and kind do. After that it rests: until every thread has heard so, and its last connection
 * is over, because that still counts there. Then it is wiped and given to another. A route that comes back before gets
 * its own slot again at once: threads hear of changes in their order, and whoever still counts there counts for it.
 */
import { isSameRoute, type Route } from './route.ts';
import type { RouteUpdate } from './routes-feed.ts';

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
export class TooManyRoutes extends RangeError {
  override readonly name = 'TooManyRoutes';
  /** How many there may be. */
  readonly slots: number;

  constructor(routes: number, slots: number) {
    super(`${routes} routes are more than ${slots}; spread them over several gateways`);
    this.slots = slots;
  }
}

/** Who counts by slots, and can say whether anybody still does. */
export interface SlotUse {
  /** Whether every thread has heard of all changes so far. */
  readonly isUpToDate: boolean;
  /** Whether a connection is open in this slot, in any thread. */
  isInUse(slot: number): boolean;
  /** Sets all its numbers to zero. */
  wipe(slot: number): void;
}

/** The table. */
export class RouteTable {
  readonly #slots: number;
  readonly #use: SlotUse;
  readonly #byHost = new Map<string, PlacedRoute>();
  /** The same in a row, made when it is asked for. */
  #list: readonly PlacedRoute[] | undefined;
  #fresh = 0;
  readonly #free: number[] = [];
  /** By {@link ownerOf} the route that was there. */
  readonly #resting = new Map<string, number>();
  #waiting = 0;

  constructor(slots: number, use: SlotUse) {
    this.#slots = slots;
    this.#use = use;
  }

  get size(): number {
    return this.#byHost.size;
  }

  /** How many of the routes that were last asked for are not in force, because too many slots rest. */
  get waiting(): number {
    return this.#waiting;
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
   * Puts these routes in force and says what changed. Those that find no slot wait: ask for the same ones again later.
   *
   * @throws TooManyRoutes, and then nothing has changed.
   */
  replace(routes: readonly Route[]): RouteChanges {
    if (routes.length > this.#slots) throw new TooManyRoutes(routes.length, this.#slots);
    const hosts = new Set(routes.map(({ host }) => host));
    const gone = [...this.#byHost.keys()].filter((host) => !hosts.has(host));
    return this.#change(routes, gone);
  }

  /**
   * Changes some routes and leaves the others as they are. Routes that find no slot wait: call {@link replace} with all
   * routes later.
   *
   * @throws TooManyRoutes, and then nothing has changed.
   */
  update({ set, removed }: RouteUpdate): RouteChanges {
    const hosts = new Set(set.map(({ host }) => host));
    const gone = removed.filter((host) => this.#byHost.has(host) && !hosts.has(host));
    const added = [...hosts].filter((host) => !this.#byHost.has(host)).length;
    const size = this.#byHost.size + added - gone.length;
    if (size > this.#slots) throw new TooManyRoutes(size, this.#slots);
    return this.#change(set, gone);
  }

  #change(routes: readonly Route[], gone: readonly string[]): RouteChanges {
    const set: PlacedRoute[] = [];
    const homeless: Route[] = [];
    const returning = new Set<string>();
    const left = gone.flatMap((host) => this.#byHost.get(host) ?? []);
    for (const route of routes) {
      const held = this.#byHost.get(route.host);
      if (held !== undefined && isSameOwner(held.route, route)) {
        if (!isSameRoute(held.route, route)) set.push({ slot: held.slot, route });
        continue;
      }
      if (held !== undefined) left.push(held);
      const owner = ownerOf(route);
      const slot = this.#resting.get(owner);
      if (slot === undefined) {
        homeless.push(route);
      } else {
        returning.add(owner);
        set.push({ slot, route });
      }
    }
    this.#reclaim(returning);
    for (const owner of returning) this.#resting.delete(owner);
    const available = this.#free.length + this.#slots - this.#fresh;
    this.#waiting = Math.max(0, homeless.length - available);
    for (const route of homeless.slice(0, available)) {
      set.push({ slot: this.#free.pop() ?? this.#fresh++, route });
    }
    for (const { slot, route } of left) {
      this.#byHost.delete(route.host);
      this.#resting.set(ownerOf(route), slot);
    }
    for (const placed of set) this.#byHost.set(placed.route.host, placed);
    this.#list = undefined;
    return { set, removed: left.map(({ slot }) => slot) };
  }

  /** Frees the slots that have rested enough, but for those whose owners return. */
  #reclaim(returning: ReadonlySet<string>): void {
    if (!this.#use.isUpToDate) return;
    for (const [owner, slot] of this.#resting) {
      if (returning.has(owner) || this.#use.isInUse(slot)) continue;
      this.#resting.delete(owner);
      this.#use.wipe(slot);
      this.#free.push(slot);
    }
  }
}

/** The same for two routes if {@link isSameOwner} says so, and they have the same host. */
function ownerOf({ host, tenant, kind }: Route): string {
  return `${kind} ${host} ${tenant}`;
}

function isSameOwner(a: Route, b: Route): boolean {
  return a.tenant === b.tenant && a.kind === b.kind;
}
