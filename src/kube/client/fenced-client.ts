import type { KubeClient } from './client.ts';
import { forwardedReads } from './forwarded-reads.ts';

/**
 * Returns a client that calls `assertMayWrite` before each write. The write fails if that throws. Dry runs are not
 * checked.
 */
export function fencedClient(client: KubeClient, assertMayWrite: () => void): KubeClient {
  return {
    ...forwardedReads(client),
    create: async (...args) => {
      assertMayWrite();
      return client.create(...args);
    },
    replace: async (...args) => {
      assertMayWrite();
      return client.replace(...args);
    },
    apply: async (object, options) => {
      if (options?.dryRun !== true) assertMayWrite();
      return client.apply(object, options);
    },
    patch: async (...args) => {
      assertMayWrite();
      return client.patch(...args);
    },
    delete: async (...args) => {
      assertMayWrite();
      return client.delete(...args);
    },
  };
}
