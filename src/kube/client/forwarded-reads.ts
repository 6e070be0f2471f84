/**
 * Forwards the reads of a client, for a wrapper that changes only the writes.
 */
import type { KubeClient } from './client.ts';

/** The methods of a client that do not write. */
type Reads = Omit<KubeClient, 'create' | 'replace' | 'apply' | 'patch' | 'delete'>;

/** Returns methods that forward each read unchanged. */
export function forwardedReads(client: KubeClient): Reads {
  return {
    server: client.server,
    get: async (...args) => client.get(...args),
    list: async (...args) => client.list(...args),
    count: async (...args) => client.count(...args),
    currentVersion: async (...args) => client.currentVersion(...args),
    watch: (...args) => client.watch(...args),
    discoverPlurals: async (...args) => client.discoverPlurals(...args),
    kubeletStatus: async (...args) => client.kubeletStatus(...args),
    version: async (...args) => client.version(...args),
  };
}
