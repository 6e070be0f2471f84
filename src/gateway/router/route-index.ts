/** The routes of one thread: by host for new connections, by slot for existing ones. */
import { Endpoint } from '../../engine/endpoint.ts';
import type { TenantKey } from '../../wire/tenant-key.ts';
import type { RouteKind } from '../routes/route.ts';
import type { AssignedRoute, RouteChanges } from '../routes/route-table.ts';
import { NetworkSet } from '../routes/networks.ts';
import { LoadBalancer } from './load-balancer.ts';
import type { TenantKeyCache } from './tenant-header-verifier.ts';

/** Limits of a route that sets none. 0 means no limit. */
export interface TenantLimits {
  readonly connections: number;
  readonly connectionsPerSecond: number;
}

/** A route with its state in this thread. */
export class RouteEntry implements TenantKeyCache {
  readonly slot: number;
  readonly host: string;
  readonly tenant: string;
  readonly kind: RouteKind;
  readonly loadBalancer = new LoadBalancer();
  /** 0 means no limit. */
  maxConnections = 0;
  connectionsPerSecond = 0;
  /** Networks that clients may connect from. Undefined means any. */
  sources: NetworkSet | undefined = undefined;
  keys: readonly TenantKey[] | undefined = undefined;
  keysGeneration = 0;

  constructor({ slot, route }: AssignedRoute) {
    this.slot = slot;
    this.host = route.host;
    this.tenant = route.tenant;
    this.kind = route.kind;
  }
}

/** Index of the routes of one thread. */
export class RouteIndex {
  readonly #limits: TenantLimits;
  readonly #byHost = new Map<string, RouteEntry>();
  readonly #bySlot: (RouteEntry | undefined)[] = [];

  constructor(limits: TenantLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#byHost.size;
  }

  /** Returns the route of a host, which must be in lower case. */
  find(host: string): RouteEntry | undefined {
    return this.#byHost.get(host);
  }

  /** Returns the route of an open connection, or undefined if the route was removed. */
  at(slot: number): RouteEntry | undefined {
    return this.#bySlot[slot];
  }

  /** Applies the changes of the next version. Open connections continue even if their route is removed. */
  apply({ set, removed }: RouteChanges): void {
    for (const slot of removed) this.#remove(slot);
    for (const assigned of set) this.#set(assigned);
  }

  #remove(slot: number): void {
    const entry = this.#bySlot[slot];
    this.#bySlot[slot] = undefined;
    if (entry !== undefined && this.#byHost.get(entry.host) === entry) {
      this.#byHost.delete(entry.host);
    }
  }

  #set(assigned: AssignedRoute): void {
    const { route, slot } = assigned;
    const entry = this.#bySlot[slot] ?? new RouteEntry(assigned);
    entry.loadBalancer.replace(route.endpoints, endpointFrom);
    entry.maxConnections = route.limits.connections ?? this.#limits.connections;
    entry.connectionsPerSecond =
      route.limits.connectionsPerSecond ?? this.#limits.connectionsPerSecond;
    entry.sources = route.allowedSources && new NetworkSet(route.allowedSources);
    this.#bySlot[slot] = entry;
    this.#byHost.set(entry.host, entry);
  }
}

/** Parses an endpoint that was validated when its route was loaded. */
function endpointFrom(text: string): Endpoint {
  const colon = text.lastIndexOf(':');
  const host = text.startsWith('[') ? text.slice(1, colon - 1) : text.slice(0, colon);
  return new Endpoint(host, Number(text.slice(colon + 1)));
}
