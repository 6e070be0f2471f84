/**
 * Leases that show which proxies are alive: one per address, renewed while the proxy reaches the API server. The proxy
 * uses the same path as the pods, so a proxy without a connection to the edge counts as dead.
 *
 * Annotations on the slice would cost more, because every kube-proxy of the cluster watches the slice, but not Leases.
 */
import type { Clock } from '../clock/clock.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { isKubeError } from '../kube/kube-error.ts';
import {
  expiresInMs,
  acquiredBy,
  released,
  observeLease,
  type Lease,
  type LeaseObservation,
} from '../kube/election/lease.ts';
import type { KubeObject, ObjectKey, OwnerReference } from '../kube/object.ts';
import { RESOURCES } from '../kube/resource.ts';
import { MANAGED_BY } from '../api/labels.ts';

/** The namespace of all objects of Steward's proxy. */
const NAMESPACE = 'kube-system';

/** A proxy counts as dead this long after its last renewal: four reconciles. */
const LEASE_MS = 20_000;

interface ProxyLeasesOptions {
  readonly client: () => KubeClient;
  /**
   * The Service that Steward creates, and deletes with its proxy. It owns the Leases, so they are garbage-collected
   * with it.
   */
  readonly serviceName: string;
  /** Unique per process. */
  readonly identity: string;
  readonly clock: Clock;
  /** Returns the time to write into Leases. It is informational. */
  readonly now: () => Date;
}

/** Renews the Lease of this proxy and observes the Leases of the others. */
export class ProxyLeases {
  readonly #options: ProxyLeasesOptions;
  #observations: ReadonlyMap<string, LeaseObservation> = new Map();

  constructor(options: ProxyLeasesOptions) {
    this.#options = options;
  }

  /** Renews the Lease of this address. The address belongs to this proxy, so it replaces any previous holder. */
  async renew(address: string, signal: AbortSignal): Promise<void> {
    const client = this.#options.client();
    const found = await client.get<Lease>(RESOURCES.lease, this.#key(address), { signal });
    if (found === undefined) {
      const fresh = await this.#newLease(address, signal);
      await client.create(RESOURCES.lease, this.#acquired(fresh), { signal });
    } else {
      await client.replace(RESOURCES.lease, this.#acquired(found), { signal });
    }
  }

  /**
   * Returns the addresses that have a live proxy. An address without a Lease does not belong to a proxy, and a released
   * Lease means that its proxy has ended. Otherwise a proxy is dead if this process has seen no renewal for the duration
   * in the Lease. So the clocks of other nodes do not matter.
   */
  async alive(addresses: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    const { client, clock } = this.#options;
    const observations = new Map<string, LeaseObservation>();
    for (const address of addresses) {
      const lease = await client().get<Lease>(RESOURCES.lease, this.#key(address), { signal });
      if (lease === undefined) continue;
      observations.set(
        address,
        observeLease(this.#observations.get(address), lease, clock.nowMs()),
      );
    }
    this.#observations = observations;
    const isAlive = (observation: LeaseObservation): boolean =>
      expiresInMs(observation, clock.nowMs(), LEASE_MS) > 0;
    return new Set(
      [...observations]
        .filter(([, observation]) => isAlive(observation))
        .map(([address]) => address),
    );
  }

  /** Restarts all observations after an outage of the API server, because the other proxies could not renew either. */
  forget(): void {
    this.#observations = new Map();
  }

  /** Whether this process still holds the Lease of its address. */
  async isHeldByThisProcess(address: string, signal: AbortSignal): Promise<boolean> {
    const lease = await this.#find(address, signal);
    return lease?.spec?.holderIdentity === this.#options.identity;
  }

  /** Releases the Lease if this process still holds it. */
  async release(address: string, signal: AbortSignal): Promise<void> {
    const lease = await this.#find(address, signal);
    if (lease?.spec?.holderIdentity !== this.#options.identity) return;
    const free = released(lease, this.#options.now());
    try {
      await this.#options.client().replace(RESOURCES.lease, free, { signal });
    } catch (error) {
      if (!isKubeError(error, 'Conflict', 'NotFound')) throw error; // another proxy holds it now, or it is deleted
    }
  }

  async #find(address: string, signal: AbortSignal): Promise<Lease | undefined> {
    return this.#options.client().get<Lease>(RESOURCES.lease, this.#key(address), { signal });
  }

  /** An object name cannot have colons and must end with a letter or digit, so `fd00::` is written as `fd00::0`. */
  #key(address: string): ObjectKey & { readonly namespace: string } {
    const text = address.endsWith(':') ? `${address}0` : address;
    const name = `${this.#options.serviceName}-${text.replaceAll(':', '-')}`;
    return { namespace: NAMESPACE, name };
  }

  #acquired(before: Lease): Lease {
    const { identity, now } = this.#options;
    return acquiredBy(identity, before, { durationMs: LEASE_MS, now: now() });
  }

  async #newLease(address: string, signal: AbortSignal): Promise<Lease> {
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
