/**
 * An index of the hosts that Exposures claim and the Edges that they use, updated one Exposure at a time. Together with
 * the TenantRoutes, the claims determine who owns a host.
 */
import { exposureKeyOf, firstClaimant, owningRoute } from '../api/host-ownership.ts';
import type { TenantRouteIndex } from '../api/tenant-route-index.ts';
import type { TenantRoute } from '../api/tenant-route.ts';
import { KeySets } from '../kube/key-sets.ts';
import { keyText } from '../kube/object.ts';
import { claimedHosts, type HostClaim, type HostOwner, type HostOwners } from './conflicts.ts';

/** The owners of hosts, by the rules of `api/host-ownership.ts`. */
export class HostClaims implements HostOwners {
  readonly #routes: Pick<TenantRouteIndex<TenantRoute>, 'ofHost' | 'ofExposure' | 'exposuresOn'>;
  readonly #reservations: ReadonlyMap<string, string>;
  /** The claims, by Exposure key. */
  readonly #claims = new Map<string, HostClaim>();
  /** The keys of the Exposures that claim a host, by host. */
  readonly #claimants = new KeySets();
  /** The keys of the Exposures that use an Edge and that the Edge allows, by Edge name. */
  readonly #users = new KeySets();
  /** The keys of the Exposures by the name in `spec.edgeRef`, whether there is such an Edge or not. */
  readonly #references = new KeySets();
  /** The keys of the Exposures in a namespace, by its name. */
  readonly #namespaces = new KeySets();

  /** @param reservations - The key of the Exposure that a host is reserved for, by host. Default: none. */
  constructor(
    routes: Pick<TenantRouteIndex<TenantRoute>, 'ofHost' | 'ofExposure' | 'exposuresOn'>,
    reservations: ReadonlyMap<string, string> = new Map(),
  ) {
    this.#routes = routes;
    this.#reservations = reservations;
  }

  /** Replaces the claims of an Exposure. */
  put(claim: HostClaim): void {
    const key = keyText(claim.exposure.metadata);
    this.remove(key);
    this.#claims.set(key, claim);
    for (const [index, value] of this.#entries(claim)) index.add(value, key);
  }

  /** Removes the claims of an Exposure, by its key `namespace/name`. */
  remove(key: string): void {
    const claim = this.#claims.get(key);
    if (claim === undefined) return;
    this.#claims.delete(key);
    for (const [index, value] of this.#entries(claim)) index.delete(value, key);
  }

  /** Reports whether an Exposure with this key exists. */
  has(key: string): boolean {
    return this.#claims.has(key);
  }

  ownerOf(host: string): HostOwner | undefined {
    const route = owningRoute(this.#routes.ofHost(host));
    if (route !== undefined) {
      const key = exposureKeyOf(route);
      const metadata = this.#claims.get(key)?.exposure.metadata;
      return { key, metadata, route: keyText(route.metadata) };
    }
    const reserved = this.#claims.get(this.#reservations.get(host) ?? '')?.exposure;
    const first = reserved ?? firstClaimant(this.#exposuresClaiming(host));
    return first && { key: keyText(first.metadata), metadata: first.metadata };
  }

  routedHosts(key: string): readonly string[] {
    return [...new Set(this.#routes.ofExposure(key).map(({ spec }) => spec.host))];
  }

  /** Returns the keys of the Exposures that claim a host. */
  claimantsOf(host: string): Iterable<string> {
    return this.#claimants.get(host);
  }

  /** Returns all claimed hosts. */
  hosts(): Iterable<string> {
    return this.#claimants.values();
  }

  /** Returns the hosts that an Exposure claims, by its key. */
  hostsOf(key: string): readonly string[] {
    const claim = this.#claims.get(key);
    return claim === undefined ? [] : claimedHosts(claim);
  }

  /** Returns all names in `spec.edgeRef`, empty for the default Edge. */
  edgeRefs(): Iterable<string> {
    return this.#references.values();
  }

  /** Returns the keys of the Exposures with this name in `spec.edgeRef`, empty for the default Edge. */
  referencing(edgeRef: string): Iterable<string> {
    return this.#references.get(edgeRef);
  }

  /** Returns the keys of the Exposures in a namespace. */
  inNamespace(name: string): Iterable<string> {
    return this.#namespaces.get(name);
  }

  /** Returns the keys of the Exposures that use an Edge: those that it allows, and those with TenantRoutes on it. */
  usersOf(edge: string): ReadonlySet<string> {
    const users = new Set(this.#users.get(edge));
    for (const key of this.#routes.exposuresOn(edge)) {
      if (!users.has(key) && this.#claims.has(key)) users.add(key);
    }
    return users;
  }

  *#entries(claim: HostClaim): Generator<readonly [KeySets, string]> {
    const { edge, edgeRef, exposure } = claim;
    for (const host of claimedHosts(claim)) yield [this.#claimants, host];
    if (edge !== undefined) yield [this.#users, edge];
    if (edgeRef !== undefined) yield [this.#references, edgeRef];
    yield [this.#namespaces, exposure.metadata.namespace ?? ''];
  }

  *#exposuresClaiming(host: string): Iterable<HostClaim['exposure']> {
    for (const key of this.claimantsOf(host)) {
      const claim = this.#claims.get(key);
      if (claim !== undefined) yield claim.exposure;
    }
  }
}
