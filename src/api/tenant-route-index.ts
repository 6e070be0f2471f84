/**
 * All known TenantRoutes by host, Exposure and Service. A lookup and a change cost the same for one tenant and for
 * 10,000.
 */
import { keyText, type ObjectKey } from '../kube/object.ts';
import { exposureKeyOf, firstRoute, type HostRoute } from './host-ownership.ts';

/** As much of a TenantRoute as the index needs. */
export interface IndexedRoute extends HostRoute {
  readonly spec: HostRoute['spec'] & {
    readonly host: string;
    readonly backend: { readonly service: { readonly name: string } };
  };
}

/** The index. */
export class TenantRouteIndex<T extends IndexedRoute> {
  readonly #byKey = new Map<string, T>();
  readonly #byHost = new Map<string, readonly T[]>();
  readonly #byExposure = new Map<string, readonly T[]>();
  readonly #byService = new Map<string, readonly T[]>();

  constructor(routes: Iterable<T> = []) {
    for (const route of routes) this.put(route);
  }

  /**
   * Adds a TenantRoute, or replaces the known version of it. False if a newer version, or this one, is known already: a
   * watch reports a write after the answer to that write.
   */
  put(route: T): boolean {
    const key = keyText(route.metadata);
    const known = this.#byKey.get(key);
    if (known !== undefined) {
      if (!isNewer(route, known)) return false;
      this.#drop(key, known);
    }
    this.#byKey.set(key, route);
    for (const [index, value] of this.#places(route)) {
      index.set(value, [...(index.get(value) ?? []), route]);
    }
    return true;
  }

  /** Removes a TenantRoute. False if it is not known, or another one of the same name is. */
  remove({ metadata }: T): boolean {
    const key = keyText(metadata);
    const known = this.#byKey.get(key);
    if (known === undefined || known.metadata.uid !== metadata.uid) return false;
    this.#drop(key, known);
    return true;
  }

  get(key: ObjectKey): T | undefined {
    return this.#byKey.get(keyText(key));
  }

  list(): readonly T[] {
    return [...this.#byKey.values()];
  }

  /** Those of a host, of every Edge. */
  ofHost(host: string): readonly T[] {
    return this.#byHost.get(host) ?? [];
  }

  /** Those of an Exposure, by its key `namespace/name`. */
  ofExposure(key: string): readonly T[] {
    return this.#byExposure.get(key) ?? [];
  }

  /** Those with a Service as backend, by its key `namespace/name`. */
  ofService(key: string): readonly T[] {
    return this.#byService.get(key) ?? [];
  }

  /** The key of the Exposure that owns a host by a TenantRoute; undefined if the host has none. */
  ownerOf(host: string): string | undefined {
    const first = firstRoute(this.ofHost(host));
    return first && exposureKeyOf(first);
  }

  #drop(key: string, route: T): void {
    this.#byKey.delete(key);
    for (const [index, value] of this.#places(route)) {
      const others = (index.get(value) ?? []).filter((one) => one !== route);
      if (others.length === 0) index.delete(value);
      else index.set(value, others);
    }
  }

  #places(route: T): readonly (readonly [Map<string, readonly T[]>, string])[] {
    return [
      [this.#byHost, route.spec.host],
      [this.#byExposure, exposureKeyOf(route)],
      [this.#byService, backendKeyOf(route)],
    ];
  }
}

/** The key, `namespace/name`, of the Service behind a TenantRoute. */
export function backendKeyOf({ metadata, spec }: IndexedRoute): string {
  return `${metadata.namespace}/${spec.backend.service.name}`;
}

/** Objects that no cluster has written yet have no version: then the one that comes last counts. */
function isNewer({ metadata: one }: HostRoute, { metadata: other }: HostRoute): boolean {
  if (one.uid !== other.uid) return true;
  if (one.resourceVersion === undefined || other.resourceVersion === undefined) return true;
  return Number(one.resourceVersion) > Number(other.resourceVersion);
}
