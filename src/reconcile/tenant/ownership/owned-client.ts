/**
 * A client of a tenant that writes only while this operator owns the tenant.
 */
import type { KubeClient } from '../../../kube/client/client.ts';
import { fencedClient } from '../../../kube/client/fenced-client.ts';

/** A write to a tenant whose Lease this operator does not hold, or no longer holds. */
export class TenantNotOwned extends Error {
  override readonly name = 'TenantNotOwned';

  constructor(server: string) {
    super(`The Lease of the tenant at ${server} is not held, so nothing is written to it.`);
  }
}

/** The same client; every write first checks the Lease. @throws TenantNotOwned */
export function ownedClient(client: KubeClient, isOwned: () => boolean): KubeClient {
  return fencedClient(client, () => {
    if (!isOwned()) throw new TenantNotOwned(client.server);
  });
}
