/**
 * The claims of all Exposures, by host, and changed one Exposure at a time: to judge all of them anew whenever one has
 * changed made a third of the work of an operator with 200 of them, and grew with their square.
 */
import { keyText } from '../kube/object.ts';
import { claimedHosts, hostHolders, type HostClaim, type HostHolders } from './conflicts.ts';

/** Who has which host, as {@link hostHolders} would say it of all claims. */
export class HostClaims implements HostHolders {
  /** By host, and there by the key of the Exposure. */
  readonly #claims = new Map<string, Map<string, HostClaim>>();
  /** What each Exposure claims, by its key. */
  readonly #hosts = new Map<string, readonly string[]>();

  /** What an Exposure claims from now on, in place of what it has claimed before. */
  put(claim: HostClaim): void {
    const key = keyText(claim.exposure.metadata);
    this.remove(key);
    const hosts = claimedHosts(claim);
    this.#hosts.set(key, hosts);
    for (const host of hosts) {
      const claims = this.#claims.get(host);
      if (claims === undefined) this.#claims.set(host, new Map([[key, claim]]));
      else claims.set(key, claim);
    }
  }

  /** The Exposure of this key, `namespace/name`, claims nothing any more. */
  remove(key: string): void {
    for (const host of this.#hosts.get(key) ?? []) {
      const claims = this.#claims.get(host);
      claims?.delete(key);
      if (claims?.size === 0) this.#claims.delete(host);
    }
    this.#hosts.delete(key);
  }

  get(host: string): HostClaim | undefined {
    const claims = this.#claims.get(host);
    return claims === undefined ? undefined : hostHolders([...claims.values()]).get(host);
  }
}
