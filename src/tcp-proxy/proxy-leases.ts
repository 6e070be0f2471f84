/**
 * How the proxies know of each other: one Lease for each address, renewed for as long as its proxy can reach the API. That
 * way is the way of the pods, so a proxy that is cut off from the edge is as good as gone.
 *
 * Leases and not an annotation of the slice: every kube-proxy of the cluster watches the slice, and nobody the Leases.
 */
import type { Clock } from '../clock/clock.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { isKubeError } from '../kube/kube-error.ts';
import {
  freeInMs,
  heldBy,
  released,
  sighted,
  type Lease,
  type LeaseSighting,
} from '../kube/election/lease.ts';
import type { KubeObject, ObjectKey, OwnerReference } from '../kube/object.ts';
import { RESOURCES } from '../kube/resource.ts';
import { MANAGED_BY } from '../api/labels.ts';

/** Where Steward puts all that belongs to its proxy. */
const NAMESPACE = 'kube-system';

/** So long after its last renewal a proxy is gone: four rounds. */
export const LEASE_MS = 20_000;

/** Options of {@link ProxyLeases}. */
export interface ProxyLeasesOptions {
  readonly client: () => KubeClient;
  /** The Service that Steward makes, and deletes when the proxy is not wanted any more: our Leases go with it. */
  readonly serviceName: string;
  /** Different for each process. */
  readonly identity: string;
  readonly clock: Clock;
  /** What is written as the time, for people to read. */
  readonly now: () => Date;
}

/** Our own Lease, and a look at those of the others. */
export class ProxyLeases {
  readonly #options: ProxyLeasesOptions;
  #sightings: ReadonlyMap<string, LeaseSighting> = new Map();

  constructor(options: ProxyLeasesOptions) {
    this.#options = options;
  }

  /** Says that the proxy at this address is alive: ours, so whoever held it before is gone. */
  async renew(address: string, signal: AbortSignal): Promise<void> {
    const client = this.#options.client();
    const found = await client.get<Lease>(RESOURCES.lease, this.#key(address), { signal });
    if (found === undefined) {
      const fresh = await this.#fresh(address, signal);
      await client.create(RESOURCES.lease, this.#held(fresh), { signal });
    } else {
      await client.replace(RESOURCES.lease, this.#held(found), { signal });
    }
  }

  /**
   * Which of these are alive. One without a Lease never was one of us, and one that gave it back is gone; any other has to
   * be silent before our eyes for as long as it said itself, whatever its clock says.
   */
  async alive(addresses: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    const { client, clock } = this.#options;
    const seen = new Map<string, LeaseSighting>();
    for (const address of addresses) {
      const lease = await client().get<Lease>(RESOURCES.lease, this.#key(address), { signal });
      if (lease === undefined) continue;
      seen.set(address, sighted(this.#sightings.get(address), lease, clock.nowMs()));
    }
    this.#sightings = seen;
    const isAlive = (one: LeaseSighting): boolean => freeInMs(one, clock.nowMs(), LEASE_MS) > 0;
    return new Set([...seen].filter(([, one]) => isAlive(one)).map(([address]) => address));
  }

  /** After an outage: others could not renew either, so the time of their silence begins anew. */
  forget(): void {
    this.#sightings = new Map();
  }

  /** Whether nobody else has taken our address in the meantime. */
  async isOurs(address: string, signal: AbortSignal): Promise<boolean> {
    const lease = await this.#find(address, signal);
    return lease?.spec?.holderIdentity === this.#options.identity;
  }

  /** Gives the Lease back, if it is still ours. */
  async release(address: string, signal: AbortSignal): Promise<void> {
    const lease = await this.#find(address, signal);
    if (lease?.spec?.holderIdentity !== this.#options.identity) return;
    const free = released(lease, this.#options.now());
    try {
      await this.#options.client().replace(RESOURCES.lease, free, { signal });
    } catch (error) {
      if (!isKubeError(error, 'Conflict', 'NotFound')) throw error; // another has it by now, or nobody
    }
  }

  async #find(address: string, signal: AbortSignal): Promise<Lease | undefined> {
    return this.#options.client().get<Lease>(RESOURCES.lease, this.#key(address), { signal });
  }

  /** A name takes no colons, and has to end with a letter or digit: `fd00::` is `fd00::0`. */
  #key(address: string): ObjectKey & { readonly namespace: string } {
    const text = address.endsWith(':') ? `${address}0` : address;
    const name = `${this.#options.serviceName}-${text.replaceAll(':', '-')}`;
    return { namespace: NAMESPACE, name };
  }

  #held(before: Lease): Lease {
    const { identity, now } = this.#options;
    return heldBy(identity, before, { durationMs: LEASE_MS, now: now() });
  }

  async #fresh(address: string, signal: AbortSignal): Promise<Lease> {
    const { client, serviceName } = this.#options;
    const key = { namespace: NAMESPACE, name: serviceName };
    const service = await client().get(RESOURCES.service, key, { signal });
    return {
      apiVersion: RESOURCES.lease.apiVersion,
      kind: RESOURCES.lease.kind,
      metadata: {
        ...this.#key(address),
        labels: MANAGED_BY,
        ...(service !== undefined && { ownerReferences: ownersOf(service) }),
      },
    };
  }
}

function ownersOf({ apiVersion, kind, metadata }: KubeObject): readonly OwnerReference[] {
  const { name, uid } = metadata;
  return uid === undefined ? [] : [{ apiVersion, kind, name, uid }];
}
