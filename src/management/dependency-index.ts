/**
 * What each Exposure depends on, so that an event reaches the Exposures it concerns without a scan of all of them.
 *
 * A reconcile adds every object before it reads it by key, also one that does not exist: its creation is an event too. When
 * it has read everything, it replaces the dependencies of the reconcile before.
 */
import { keyText, type ObjectKey } from '../kube/object.ts';
import { groupOf, type Resource } from '../kube/resource.ts';

/** The name of a dependency, such as `Service/tenants/blue`. Versions of one kind share a name. */
export type Dependency = string;

/** The dependency on an object, whether it exists or not. */
export function dependencyOn(
  { apiVersion, kind }: Pick<Resource, 'apiVersion' | 'kind'>,
  key: ObjectKey,
): Dependency {
  const group = groupOf(apiVersion);
  return `${kind}${group === '' ? '' : `.${group}`}/${keyText(key)}`;
}

/** The dependency on which objects of a kind exist. */
export function dependencyOnNames(resource: Pick<Resource, 'apiVersion' | 'kind'>): Dependency {
  return dependencyOn(resource, { name: '*' });
}

/** Keys of Exposures by what they depend on. */
export class DependencyIndex {
  readonly #dependencies = new Map<string, ReadonlySet<Dependency>>();
  readonly #dependents = new Map<Dependency, Set<string>>();

  /** Replaces the dependencies of an Exposure. */
  set(key: string, dependencies: ReadonlySet<Dependency>): void {
    const previous = this.#dependencies.get(key) ?? new Set();
    this.#dependencies.set(key, dependencies);
    for (const dependency of previous) {
      if (!dependencies.has(dependency)) this.#remove(key, dependency);
    }
    for (const dependency of dependencies) this.#insert(key, dependency);
  }

  /** Adds a dependency of an Exposure. */
  add(key: string, dependency: Dependency): void {
    this.#dependencies.set(key, new Set(this.#dependencies.get(key)).add(dependency));
    this.#insert(key, dependency);
  }

  /** Forgets an Exposure. */
  forget(key: string): void {
    for (const dependency of this.#dependencies.get(key) ?? []) this.#remove(key, dependency);
    this.#dependencies.delete(key);
  }

  /** The keys of the Exposures that depend on this. */
  dependents(dependency: Dependency): Iterable<string> {
    return this.#dependents.get(dependency) ?? [];
  }

  #insert(key: string, dependency: Dependency): void {
    const dependents = this.#dependents.get(dependency);
    if (dependents === undefined) this.#dependents.set(dependency, new Set([key]));
    else dependents.add(key);
  }

  #remove(key: string, dependency: Dependency): void {
    const dependents = this.#dependents.get(dependency);
    dependents?.delete(key);
    if (dependents?.size === 0) this.#dependents.delete(dependency);
  }
}
