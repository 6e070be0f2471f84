/**
 * A client of a tenant that writes only while this operator owns the tenant.
 */
import type { KubeClient } from '../../../kube/client/client.ts';
import { forwardedReads } from '../../../kube/client/forwarded-reads.ts';

/** A write to a tenant whose Lease this operator does not hold, or no longer holds. */
export class TenantNotOwned extends Error {
  override readonly name = 'TenantNotOwned';

  constructor(server: string) {
    super(`The Lease of the tenant at ${server} is not held, so nothing is written to it.`);
  }
}

/** The same client; every write first checks the Lease. A dry run is no write. @throws TenantNotOwned */
export function ownedClient(client: KubeClient, isOwned: () => boolean): KubeClient {
  const { server } = client;
  const assertOwned = () => {
    if (!isOwned()) throw new TenantNotOwned(server);
  };
  return {
    ...forwardedReads(client),
    create: async (...args) => {
      assertOwned();
      return client.create(...args);
    },
    replace: async (...args) => {
      assertOwned();
      return client.replace(...args);
    },
    apply: async (object, options) => {
      if (options?.dryRun !== true) assertOwned();
      return client.apply(object, options);
    },
    patch: async (...args) => {
      assertOwned();
      return client.patch(...args);
    },
    delete: async (...args) => {
      assertOwned();
      return client.delete(...args);
    },
  };
}
