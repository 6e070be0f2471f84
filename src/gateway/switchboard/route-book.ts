/**
 * The routes as one thread has them: by host for new connections, by slot for those under way.
 */
import { Endpoint } from '../../engine/endpoint.ts';
import type { TenantKey } from '../../wire/tenant-key.ts';
import type { RouteKind } from '../routes/route.ts';
import type { PlacedRoute, RouteChanges } from '../routes/route-table.ts';
import { NetworkSet } from '../routes/networks.ts';
import { Rotation } from './rotation.ts';
import type { KeyHolder } from './tenant-gate.ts';

/** What a route may take if it does not say so itself; 0: no limit. */
export interface TenantLimits {
  readonly connections: number;
  readonly connectionsPerSecond: number;
}

/** A route with what this thread knows of it. */
export class Entry implements KeyHolder {
  readonly slot: number;
  readonly host: string;
  readonly tenant: string;
  readonly kind: RouteKind;
  readonly rotation = new Rotation();
  /** 0: no limit. */
  maxConnections = 0;
  connectionsPerSecond = 0;
  /** Where clients may connect from; undefined: anywhere. */
  sources: NetworkSet | undefined = undefined;
  keys: readonly TenantKey[] | undefined = undefined;
  keysGeneration = 0;

  constructor({ slot, route }: PlacedRoute) {
    this.slot = slot;
    this.host = route.host;
    this.tenant = route.tenant;
    this.kind = route.kind;
  }
}

/** The book. */
export class RouteBook {
  readonly #limits: TenantLimits;
  readonly #byHost = new Map<string, Entry>();
  readonly #bySlot: (Entry | undefined)[] = [];

  constructor(limits: TenantLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#byHost.size;
  }

  /** The route of a host in lower case. */
  find(host: string): Entry | undefined {
    return this.#byHost.get(host);
  }

  /** The route of a connection under way; gone if it was removed since. */
  at(slot: number): Entry | undefined {
    return this.#bySlot[slot];
  }

  /** Brings the book to the next version. Connections under way go on whatever happens to their route. */
  apply({ set, removed }: RouteChanges): void {
    for (const slot of removed) this.#remove(slot);
    for (const placed of set) this.#set(placed);
  }

  #remove(slot: number): void {
    const entry = this.#bySlot[slot];
    this.#bySlot[slot] = undefined;
    if (entry !== undefined && this.#byHost.get(entry.host) === entry) {
      this.#byHost.delete(entry.host);
    }
  }

  #set(placed: PlacedRoute): void {
    const { route, slot } = placed;
    const entry = this.#bySlot[slot] ?? new Entry(placed);
    entry.rotation.replace(route.endpoints, endpointFrom);
    entry.maxConnections = route.limits.connections ?? this.#limits.connections;
    entry.connectionsPerSecond =
      route.limits.connectionsPerSecond ?? this.#limits.connectionsPerSecond;
    entry.sources = route.allowedSources && new NetworkSet(route.allowedSources);
    this.#bySlot[slot] = entry;
    this.#byHost.set(entry.host, entry);
  }
}

/** The text has been checked on its way in. */
function endpointFrom(text: string): Endpoint {
  const colon = text.lastIndexOf(':');
  const host = text.startsWith('[') ? text.slice(1, colon - 1) : text.slice(0, colon);
  return new Endpoint(host, Number(text.slice(colon + 1)));
}
