/**
 * Clients of a tenant that write only while this operator may.
 */
import type { KubeClient } from '../../../kube/client/client.ts';
import { fencedClient } from '../../../kube/client/fenced-client.ts';

/** A write to a tenant whose Lease this operator does not hold, or by a replica that no longer leads. */
export class TenantNotOwned extends Error {
  override readonly name = 'TenantNotOwned';
}

/** The same client; every write first checks whether this replica leads. @throws TenantNotOwned */
export function leaderClient(client: KubeClient, mayWrite: () => boolean): KubeClient {
  return fencedClient(client, () => {
    if (mayWrite()) return;
    throw new TenantNotOwned(
      `This replica no longer leads, so nothing is written to the tenant at ${client.server}.`,
    );
  });
}

/** The same client; every write first checks the Lease. @throws TenantNotOwned */
export function ownedClient(client: KubeClient, isOwned: () => boolean): KubeClient {
  return fencedClient(client, () => {
    if (isOwned()) return;
    throw new TenantNotOwned(
      `The Lease of the tenant at ${client.server} is not held, so nothing is written to it.`,
    );
  });
}
