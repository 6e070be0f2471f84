/**
 * The reads of a client, for another client that differs only in its writes.
 */
import type { KubeClient } from './client.ts';

/** What a client does besides writing. */
export type Reads = Omit<KubeClient, 'create' | 'replace' | 'apply' | 'patch' | 'delete'>;

/** Each is passed on as it is. */
export function forwardedReads(client: KubeClient): Reads {
  return {
    server: client.server,
    get: async (...args) => client.get(...args),
    list: async (...args) => client.list(...args),
    count: async (...args) => client.count(...args),
    currentVersion: async (...args) => client.currentVersion(...args),
    watch: (...args) => client.watch(...args),
    servedPlurals: async (...args) => client.servedPlurals(...args),
    version: async (...args) => client.version(...args),
  };
}
