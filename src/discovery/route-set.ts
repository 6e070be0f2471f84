/** All routes of a gateway, updated per host: a change recomputes only the hosts that depend on it. */
import type { TenantRoute } from '../api/tenant-route.ts';
import { TenantRouteIndex } from '../api/tenant-route-index.ts';
import type { RouteUpdate } from '../gateway/routes/routes-feed.ts';
import { isSameRoute, type Route } from '../gateway/routes/route.ts';
import { hostRoute, type HostFacts } from './tenant-routes.ts';

type RouteSetOptions = Pick<HostFacts, 'slicesOf' | 'edge' | 'maxLimits'>;

/** The changes of an update. */
interface SetUpdate extends RouteUpdate {
  /** New faults, as sentences. Faults that a host already had are left out. */
  readonly newFaults: readonly string[];
}

/** The routes of a gateway, by host. */
export class RouteSet {
  readonly #options: RouteSetOptions;
  readonly #tenantRoutes = new TenantRouteIndex<TenantRoute>();
  readonly #routes = new Map<string, Route>();
  /** Faults by host. Hosts without faults are absent. */
  readonly #faults = new Map<string, readonly string[]>();
  /** Hosts whose route has to be recomputed. */
  readonly #stale = new Set<string>();

  constructor(options: RouteSetOptions) {
    this.#options = options;
  }

  /** Adds or updates a TenantRoute. */
  put(route: TenantRoute): void {
    const before = this.#tenantRoutes.get(route.metadata);
    if (!this.#tenantRoutes.put(route)) return;
    if (before !== undefined) this.#stale.add(before.spec.host);
    this.#stale.add(route.spec.host);
  }

  /** Removes a TenantRoute. */
  remove(route: TenantRoute): void {
    const before = this.#tenantRoutes.get(route.metadata);
    if (before !== undefined && this.#tenantRoutes.remove(route)) {
      this.#stale.add(before.spec.host);
    }
  }

  /** Marks the routes of a Service as stale, after its EndpointSlices have changed. The Service is `namespace/name`. */
  slicesChanged(service: string): void {
    for (const { spec } of this.#tenantRoutes.ofService(service)) this.#stale.add(spec.host);
  }

  /** Recomputes the stale routes and returns what changed. */
  update(): SetUpdate {
    const set: Route[] = [];
    const removed: string[] = [];
    const newFaults: string[] = [];
    for (const host of this.#stale) {
      const tenantRoutes = this.#tenantRoutes.ofHost(host);
      const { route, faults } = hostRoute({ ...this.#options, host, tenantRoutes });
      const before = this.#routes.get(host);
      const known = this.#faults.get(host) ?? [];
      newFaults.push(...faults.filter((fault) => !known.includes(fault)));
      if (faults.length === 0) this.#faults.delete(host);
      else this.#faults.set(host, faults);
      if (route === undefined) {
        if (this.#routes.delete(host)) removed.push(host);
      } else if (before === undefined || !isSameRoute(before, route)) {
        this.#routes.set(host, route);
        set.push(route);
      }
    }
    this.#stale.clear();
    return { set, removed, newFaults };
  }

  get size(): number {
    return this.#routes.size;
  }

  /** Returns all routes, as of the last update. */
  list(): readonly Route[] {
    return [...this.#routes.values()];
  }
}
