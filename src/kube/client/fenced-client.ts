import type { KubeClient, WriteOptions } from './client.ts';
import { forwardedReads } from './forwarded-reads.ts';

/**
 * Returns a client that calls `assertMayWrite` before each write, and again right before the request is sent: it may
 * have waited for a connection. With HTTP/2 that is after the handshake, and again before the end of the body. With
 * HTTP/1.1 it is before the dial. The write fails with the error that it throws. Dry runs are not checked.
 */
export function fencedClient(client: KubeClient, assertMayWrite: () => void): KubeClient {
  const fenced = <T extends WriteOptions>(options: T | undefined) => {
    assertMayWrite();
    const assertMaySend = () => {
      options?.assertMaySend?.();
      assertMayWrite();
    };
    return { ...options, assertMaySend };
  };
  return {
    ...forwardedReads(client),
    create: async (resource, object, options) => client.create(resource, object, fenced(options)),
    replace: async (resource, object, options) => client.replace(resource, object, fenced(options)),
    apply: async (object, options) =>
      client.apply(object, options?.dryRun === true ? options : fenced(options)),
    patch: async (resource, key, type, body, options) =>
      client.patch(resource, key, type, body, fenced(options)),
    delete: async (resource, key, options) => client.delete(resource, key, fenced(options)),
  };
}
