/** Checks whether an edge routes to a tenant, by a handshake verified with the tenant's CA. */
import { connect } from 'node:tls';

/** Timeout of the handshake. */
const TIMEOUT_MS = 2000;

/** Returns whether the handshake succeeds. An edge that does not know the host fails it with an alert. */
export async function reachesApiServer(
  edge: { readonly address: string; readonly port: number },
  host: string,
  ca: string,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host: edge.address, port: edge.port, servername: host, ca });
  socket.setTimeout(TIMEOUT_MS, () => resolve(false));
  socket.on('secureConnect', () => resolve(socket.authorized));
  socket.on('error', () => resolve(false));
  socket.on('close', () => resolve(false));
  return promise.finally(() => socket.destroy());
}
