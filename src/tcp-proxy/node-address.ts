/**
 * The address of this node, where nobody says: a pod on the network of a node that has no address in its status yet has no
 * POD_IP. The node of a cloud that is not initialised is such a one, and what initialises it may need this proxy.
 */
import { connect } from 'node:net';
import type { EdgeAddress } from '../net/edge-address.ts';
import { canonicalAddress, endpointAddressFault } from '../kube/endpoints/endpoint-address.ts';

/**
 * The address from which this machine reaches the upstream.
 *
 * @throws Error with a sentence: it cannot be reached, or not from an address that others could dial.
 */
export async function addressTowards(
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
  const abort = (): void => void socket.destroy(new Error('no answer in time'));
  signal.addEventListener('abort', abort);
  socket.once('connect', () => resolve(socket.localAddress ?? ''));
  socket.once('error', reject);
  if (signal.aborted) abort();
  try {
    return await promise;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `POD_IP is not set, and ${host}:${port} cannot be reached to find out: ${why}`,
      {
        cause: error,
      },
    );
  } finally {
    signal.removeEventListener('abort', abort);
    socket.destroy();
  }
}
