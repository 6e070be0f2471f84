import { createServer, connect, type AddressInfo, type Server } from 'node:net';

/** Listens on a port and relays bytes both ways to a target. Half-closed connections stay open. */
export async function relay(
  target: { host: string; port: number },
  listen: { host: string; port: number },
): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ ...target, allowHalfOpen: true });
    client.pipe(upstream);
    upstream.pipe(client);
    // A failure of one side closes the other side.
    client.on('error', () => upstream.destroy());
    upstream.on('error', () => client.destroy());
    // When one side closes, the other side first writes out what is buffered for it.
    client.on('close', () => upstream.destroySoon());
    upstream.on('close', () => client.destroySoon());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(listen.port, listen.host, resolve);
  });
  return server;
}

/** Returns the port that a server listens on. */
export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
