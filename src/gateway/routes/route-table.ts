/**
 * The active routes, on the main thread, and the changes from one version to the next.
 *
 * Each route has a slot. The slot is the row of the route in every thread's counters, and the number by which threads
 * know the route. A route keeps its slot until its host is removed, or gets another tenant or kind. Then the slot is
 * retired until every thread has applied the change and the last connection of the slot has closed, because that
 * connection still counts there. After that the slot is wiped and becomes free. A route that returns while its slot is
 * retired gets the same slot back at once: threads apply changes in order, and open connections of the slot belong to
 * the same route.
 */
import { isSameRoute, type Route } from './route.ts';
import type { RouteUpdate } from './routes-feed.ts';

/** A route and its slot. */
export interface AssignedRoute {
  readonly slot: number;
  readonly route: Route;
}

/** The changes from one version of the routes to the next. Plain data that can be sent to other threads. */
export interface RouteChanges {
  readonly set: readonly AssignedRoute[];
  /** Slots of removed routes. */
  readonly removed: readonly number[];
}

/** There are more routes than slots. */
export class TooManyRoutes extends RangeError {
  override readonly name = 'TooManyRoutes';
  /** Maximum number of routes. */
  readonly slots: number;

  constructor(routes: number, slots: number) {
    super(`${routes} routes are more than ${slots}; spread them over several gateways`);
    this.slots = slots;
  }
}

/** Reports which slots are still in use, and resets their counters. */
export interface SlotUse {
  /** Whether every thread has applied all changes so far. */
  readonly isUpToDate: boolean;
  /** Whether any thread has an open connection in this slot. */
  isInUse(slot: number): boolean;
  /** Sets all counters of the slot to zero, for its next route. */
  resetSlot(slot: number): void;
}

/** The table of routes by host, with one slot per route. */
export class RouteTable {
  readonly #slots: number;
  readonly #slotUse: SlotUse;
  readonly #byHost = new Map<string, AssignedRoute>();
  /** The routes as a list, created on demand. */
  #list: readonly AssignedRoute[] | undefined;
  #nextSlot = 0;
  readonly #free: number[] = [];
  /** Retired slots by {@link ownerOf} of their route. */
  readonly #retired = new Map<string, number>();
  #waiting = 0;

  constructor(slots: number, slotUse: SlotUse) {
    this.#slots = slots;
    this.#slotUse = slotUse;
  }

  get size(): number {
    return this.#byHost.size;
  }

  /** Number of desired routes that are not active because too many slots are retired. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Returns the route of a host, which must be in lower case. */
  find(host: string): Route | undefined {
    return this.#byHost.get(host)?.route;
  }

  /** Returns all routes, for a thread that starts. */
  routes(): readonly AssignedRoute[] {
    this.#list ??= [...this.#byHost.values()];
    return this.#list;
  }

  /**
   * Replaces all routes and returns what changed. Routes without a slot wait: call again with the same routes later.
   *
   * @throws TooManyRoutes without any change.
   */
  replace(routes: readonly Route[]): RouteChanges {
    if (routes.length > this.#slots) throw new TooManyRoutes(routes.length, this.#slots);
    const hosts = new Set(routes.map(({ host }) => host));
    const removedHosts = [...this.#byHost.keys()].filter((host) => !hosts.has(host));
    return this.#change(routes, removedHosts);
  }

  /**
   * Changes only the given routes. Routes without a slot wait: call {@link replace} with all routes later.
   *
   * @throws TooManyRoutes without any change.
   */
  update({ set, removed }: RouteUpdate): RouteChanges {
    const hosts = new Set(set.map(({ host }) => host));
    const removedHosts = removed.filter((host) => this.#byHost.has(host) && !hosts.has(host));
    const added = [...hosts].filter((host) => !this.#byHost.has(host)).length;
    const size = this.#byHost.size + added - removedHosts.length;
    if (size > this.#slots) throw new TooManyRoutes(size, this.#slots);
    return this.#change(set, removedHosts);
  }

  #change(routes: readonly Route[], removedHosts: readonly string[]): RouteChanges {
    const set: AssignedRoute[] = [];
    const unassigned: Route[] = [];
    const restoredOwners = new Set<string>();
    const vacated = removedHosts.flatMap((host) => this.#byHost.get(host) ?? []);
    for (const route of routes) {
      const current = this.#byHost.get(route.host);
      if (current !== undefined && isSameOwner(current.route, route)) {
        if (!isSameRoute(current.route, route)) set.push({ slot: current.slot, route });
        continue;
      }
      if (current !== undefined) vacated.push(current);
      const owner = ownerOf(route);
      const slot = this.#retired.get(owner);
      if (slot === undefined) {
        unassigned.push(route);
      } else {
        restoredOwners.add(owner);
        set.push({ slot, route });
      }
    }
    this.#reclaim(restoredOwners);
    for (const owner of restoredOwners) this.#retired.delete(owner);
    const available = this.#free.length + this.#slots - this.#nextSlot;
    this.#waiting = Math.max(0, unassigned.length - available);
    for (const route of unassigned.slice(0, available)) {
      set.push({ slot: this.#free.pop() ?? this.#nextSlot++, route });
    }
    for (const { slot, route } of vacated) {
      this.#byHost.delete(route.host);
      this.#retired.set(ownerOf(route), slot);
    }
    for (const assigned of set) this.#byHost.set(assigned.route.host, assigned);
    this.#list = undefined;
    return { set, removed: vacated.map(({ slot }) => slot) };
  }

  /** Frees the retired slots that are no longer in use, except those of restored routes. */
  #reclaim(returning: ReadonlySet<string>): void {
    if (!this.#slotUse.isUpToDate) return;
    for (const [owner, slot] of this.#retired) {
      if (returning.has(owner) || this.#slotUse.isInUse(slot)) continue;
      this.#retired.delete(owner);
      this.#slotUse.resetSlot(slot);
      this.#free.push(slot);
    }
  }
}

/** Returns a key that is equal for two routes of the same host if {@link isSameOwner} is true for them. */
function ownerOf({ host, tenant, kind }: Route): string {
  return `${kind} ${host} ${tenant}`;
}

function isSameOwner(a: Route, b: Route): boolean {
  return a.tenant === b.tenant && a.kind === b.kind;
}
