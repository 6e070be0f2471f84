/**
 * An index of all known TenantRoutes by host, Exposure, Service and Edge. The cost of a lookup or a change does not
 * depend on the number of tenants.
 */
import { isLowerVersion, keyText, type ObjectKey } from '../kube/object.ts';
import { exposureKeyOf, type HostRoute } from './host-ownership.ts';

/** The fields of a TenantRoute that the index needs. */
interface IndexedRoute extends HostRoute {
  readonly spec: HostRoute['spec'] & {
    readonly host: string;
    readonly edgeRef: { readonly name: string };
    readonly backend: { readonly service: { readonly name: string } };
  };
}

/**
 * The index. The watch is authoritative. Writes of this process appear at once and take precedence until the watch
 * reports them.
 */
export class TenantRouteIndex<T extends IndexedRoute> {
  readonly #byKey = new Map<string, T>();
  readonly #byHost = new Map<string, readonly T[]>();
  readonly #byExposure = new Map<string, readonly T[]>();
  readonly #byService = new Map<string, readonly T[]>();
  /** By Edge, the number of TenantRoutes that each Exposure has on it. */
  readonly #onEdge = new Map<string, Map<string, number>>();
  /** The resourceVersions of own writes that the watch has not reported yet, by TenantRoute key. */
  readonly #written = new Map<string, string>();
  /** For each own write in progress, the uids of all TenantRoutes that were removed since it began. */
  readonly #removedDuringWrites = new Set<Set<string>>();
  #onChange: (exposure: string) => void = () => {};

  constructor(routes: Iterable<T> = []) {
    for (const route of routes) this.put(route);
  }

  /** Calls back with the key of an Exposure after each change of its TenantRoutes. Replaces the previous callback. */
  onChange(changed: (exposure: string) => void): void {
    this.#onChange = changed;
  }

  /**
   * Adds or updates a TenantRoute that the watch reports. A lower resourceVersion counts too: etcd may have been
   * restored from a backup. Returns false if an own write is newer, or if the index has this version already.
   */
  put(route: T): boolean {
    const key = keyText(route.metadata);
    const written = this.#written.get(key);
    const { uid, resourceVersion } = route.metadata;
    if (isOlder(resourceVersion, written)) return false;
    this.#written.delete(key);
    const known = this.#byKey.get(key)?.metadata;
    const isKnown = known?.uid === uid && known?.resourceVersion === resourceVersion;
    // Also the same version: the object of the watch is in its cache anyway, and has no managedFields.
    this.#replace(key, route);
    return !isKnown || resourceVersion === undefined;
  }

  /**
   * Removes a TenantRoute that the watch reports as deleted. Returns false if the index does not have it, or has
   * another one with the same name.
   */
  remove({ metadata }: T): boolean {
    for (const removed of this.#removedDuringWrites) removed.add(metadata.uid ?? '');
    const key = keyText(metadata);
    const known = this.#byKey.get(key);
    if (known === undefined || known.metadata.uid !== metadata.uid) return false;
    this.#written.delete(key);
    this.#drop(key, known);
    return true;
  }

  /**
   * Runs an own write and adds the TenantRoute that `written` finds in the response. The response is ignored if the
   * watch has meanwhile reported the same version, a later version, or the deletion of the TenantRoute.
   */
  async write<A>(run: () => Promise<A>, written: (answer: A) => T | undefined): Promise<A> {
    const removed = new Set<string>();
    this.#removedDuringWrites.add(removed);
    try {
      const answer = await run();
      const route = written(answer);
      if (route !== undefined && !removed.has(route.metadata.uid ?? '')) this.#addWritten(route);
      return answer;
    } finally {
      this.#removedDuringWrites.delete(removed);
    }
  }

  /**
   * Must be called when a list begins. The caller calls the returned function when the list is complete, before it puts
   * the changes of the list. The list takes precedence over own writes that were complete when it began: the function
   * removes and returns their TenantRoutes if the list does not contain them.
   */
  beginList(): (isListed: (key: ObjectKey) => boolean) => readonly T[] {
    const before = [...this.#written];
    return (isListed) => {
      const outranked = before.filter(([key, version]) => this.#written.get(key) === version);
      for (const [key] of outranked) this.#written.delete(key);
      const removed = outranked
        .flatMap(([key]) => this.#byKey.get(key) ?? [])
        .filter(({ metadata }) => !isListed(metadata));
      for (const route of removed) this.remove(route);
      return removed;
    };
  }

  get(key: ObjectKey): T | undefined {
    return this.#byKey.get(keyText(key));
  }

  list(): readonly T[] {
    return [...this.#byKey.values()];
  }

  /** Returns the TenantRoutes of a host, on all Edges. */
  ofHost(host: string): readonly T[] {
    return this.#byHost.get(host) ?? [];
  }

  /** Returns the TenantRoutes of an Exposure, by its key `namespace/name`. */
  ofExposure(key: string): readonly T[] {
    return this.#byExposure.get(key) ?? [];
  }

  /** Returns the TenantRoutes whose backend is a Service, by its key `namespace/name`. */
  ofService(key: string): readonly T[] {
    return this.#byService.get(key) ?? [];
  }

  /** Returns the keys of the Exposures with TenantRoutes on an Edge. */
  exposuresOn(edge: string): Iterable<string> {
    return this.#onEdge.get(edge)?.keys() ?? [];
  }

  #addWritten(route: T): void {
    const key = keyText(route.metadata);
    const { resourceVersion } = route.metadata;
    const known = this.#byKey.get(key)?.metadata.resourceVersion;
    if (resourceVersion === undefined || known === resourceVersion) return;
    if (isOlder(resourceVersion, known)) return;
    this.#written.set(key, resourceVersion);
    this.#replace(key, route);
  }

  #replace(key: string, route: T): void {
    const known = this.#byKey.get(key);
    if (known !== undefined) this.#drop(key, known);
    this.#byKey.set(key, route);
    for (const [index, value] of this.#places(route)) {
      index.set(value, [...(index.get(value) ?? []), route]);
    }
    this.#countOnEdge(route, 1);
    this.#onChange(exposureKeyOf(route));
  }

  #drop(key: string, route: T): void {
    this.#byKey.delete(key);
    for (const [index, value] of this.#places(route)) {
      const others = (index.get(value) ?? []).filter((other) => other !== route);
      if (others.length === 0) index.delete(value);
      else index.set(value, others);
    }
    this.#countOnEdge(route, -1);
    this.#onChange(exposureKeyOf(route));
  }

  #countOnEdge(route: T, change: 1 | -1): void {
    const { name } = route.spec.edgeRef;
    const key = exposureKeyOf(route);
    const counts = this.#onEdge.get(name) ?? new Map<string, number>();
    const count = (counts.get(key) ?? 0) + change;
    if (count > 0) counts.set(key, count);
    else counts.delete(key);
    if (counts.size > 0) this.#onEdge.set(name, counts);
    else this.#onEdge.delete(name);
  }

  #places(route: T): readonly (readonly [Map<string, readonly T[]>, string])[] {
    return [
      [this.#byHost, route.spec.host],
      [this.#byExposure, exposureKeyOf(route)],
      [this.#byService, backendKeyOf(route)],
    ];
  }
}

/** Returns the key, `namespace/name`, of the backend Service of a TenantRoute. */
function backendKeyOf({ metadata, spec }: IndexedRoute): string {
  return `${metadata.namespace}/${spec.backend.service.name}`;
}

function isOlder(version: string | undefined, other: string | undefined): boolean {
  return version !== undefined && other !== undefined && isLowerVersion(version, other);
}
