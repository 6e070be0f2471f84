import { createServer, connect, type AddressInfo, type Server } from 'node:net';

/** Accepts on a loopback port and passes bytes both ways to a target, keeping half-closed connections open. */
export async function relay(
  target: { host: string; port: number },
  listen: { host: string; port: number },
): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ ...target, allowHalfOpen: true });
    client.pipe(upstream);
    upstream.pipe(client);
    // Whichever side fails takes the other along; there is nobody else to tell.
    client.on('error', () => upstream.destroy());
    upstream.on('error', () => client.destroy());
    // One that closes leaves the other the time to write out what it has said.
    client.on('close', () => upstream.destroySoon());
    upstream.on('close', () => client.destroySoon());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(listen.port, listen.host, resolve);
  });
  return server;
}

/** The port that a server listens on. */
export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
