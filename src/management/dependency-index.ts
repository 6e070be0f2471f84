/**
 * What each Exposure depends on, so that an event reaches the Exposures it concerns without a scan of all of them.
 *
 * A reconcile adds every object before it reads it by key, also one that does not exist: its creation is an event too. When
 * it has read everything, it replaces the dependencies of the reconcile before.
 */
import { KeySets } from '../kube/key-sets.ts';
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
  readonly #dependents = new KeySets();

  /** Replaces the dependencies of an Exposure. */
  set(key: string, dependencies: ReadonlySet<Dependency>): void {
    const previous = this.#dependencies.get(key) ?? new Set();
    this.#dependencies.set(key, dependencies);
    for (const dependency of previous) {
      if (!dependencies.has(dependency)) this.#dependents.delete(dependency, key);
    }
    for (const dependency of dependencies) this.#dependents.add(dependency, key);
  }

  /** Adds a dependency of an Exposure. */
  add(key: string, dependency: Dependency): void {
    this.#dependencies.set(key, new Set(this.#dependencies.get(key)).add(dependency));
    this.#dependents.add(dependency, key);
  }

  /** Forgets an Exposure. */
  forget(key: string): void {
    for (const dependency of this.#dependencies.get(key) ?? [])
      this.#dependents.delete(dependency, key);
    this.#dependencies.delete(key);
  }

  /** The keys of the Exposures that depend on this. */
  dependents(dependency: Dependency): Iterable<string> {
    return this.#dependents.get(dependency);
  }
}
