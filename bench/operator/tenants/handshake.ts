/** Whether an edge leads to a tenant: a handshake by its name, checked against its own CA. */
import { connect } from 'node:tls';

/** A client that waits longer than this has gone. */
const TIMEOUT_MS = 2000;

/** Any failure is a no: that of an edge that does not know the name is an alert. */
export async function leadsTo(
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
