/**
 * Detects the address of this node if POD_IP is not set. A pod with hostNetwork has no POD_IP while the status of its
 * node has no address, for example before a cloud controller has initialized the node. That controller may itself need
 * this proxy.
 */
import { connect } from 'node:net';
import type { EdgeAddress } from '../net/edge-address.ts';
import { canonicalAddress, endpointAddressFault } from '../kube/endpoints/endpoint-address.ts';

/**
 * Returns the local address of a connection to the upstream.
 *
 * @throws Error with a message if the upstream is not reachable, or if other nodes could not dial the address.
 */
export async function localAddressTo(
  { host, port }: EdgeAddress,
  signal: AbortSignal,
): Promise<string> {
  const address = await localAddress(host, port, signal);
  const fault = endpointAddressFault(address);
  if (fault === undefined) return canonicalAddress(address);
  throw new Error(
    `POD_IP is not set, and ${host} is reached from ${address}, which is ${fault}; set POD_IP from status.podIP`,
  );
}

async function localAddress(host: string, port: number, signal: AbortSignal): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({ host, port });
  const abort = (): void => void socket.destroy(new Error('timeout'));
  signal.addEventListener('abort', abort);
  socket.once('connect', () => resolve(socket.localAddress ?? ''));
  socket.once('error', reject);
  if (signal.aborted) abort();
  try {
    return await promise;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `POD_IP is not set, and ${host}:${port} cannot be reached to find out: ${reason}`,
      {
        cause: error,
      },
    );
  } finally {
    signal.removeEventListener('abort', abort);
    socket.destroy();
  }
}
