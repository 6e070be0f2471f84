/**
 * For tests only: the in-memory servers that clients can reach, by address.
 */
import type { ClusterAccess } from '../../access/cluster-access.ts';
import type { RoundTripper } from '../../transport/round-tripper.ts';
import { refused, type MemoryApiServer } from './memory-api-server.ts';

const HOSTS = ['127.0.0.1', 'localhost'];

/** A network of in-memory servers. */
export class MemoryNetwork {
  readonly #servers = new Map<string, MemoryApiServer>();

  add(server: MemoryApiServer): void {
    for (const host of HOSTS) this.#servers.set(`${host}:${server.port}`, server);
  }

  /** Returns the round tripper to the server of this access. Connections to unknown servers are refused. */
  roundTripper(access: ClusterAccess): RoundTripper {
    const server = this.#servers.get(new URL(access.server).host);
    const refuse = async () => Promise.reject(refused());
    return server?.roundTripper(access) ?? { fetch: refuse, stream: refuse };
  }
}
