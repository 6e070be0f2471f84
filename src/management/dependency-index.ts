/**
 * An index of the objects that each Exposure depends on, so that an event reaches its Exposures without a scan of all.
 *
 * A reconcile adds each object before it reads it by key, even if the object does not exist, since its creation is an
 * event too. When it has read everything, it replaces the dependencies of the previous reconcile.
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

/** The dependency on the set of objects of a kind. */
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

  /** Removes an Exposure. */
  forget(key: string): void {
    for (const dependency of this.#dependencies.get(key) ?? [])
      this.#dependents.delete(dependency, key);
    this.#dependencies.delete(key);
  }

  /** Returns the keys of the Exposures with this dependency. */
  dependents(dependency: Dependency): Iterable<string> {
    return this.#dependents.get(dependency);
  }
}
