/** For tests only: tenants and clients with real TLS. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { TestAuthority } from '../../net/testing/certificates.ts';

/** A tenant's API server that echoes what it receives and counts its connections. */
export class Tenant implements AsyncDisposable {
  readonly host: string;
  readonly ca: string;
  readonly endpoint: string;
  connections = 0;
  /** The server names of the hellos it received. */
  readonly names: string[] = [];
  readonly #close: () => Promise<void>;

  private constructor(host: string, ca: string, endpoint: string, close: () => Promise<void>) {
    this.host = host;
    this.ca = ca;
    this.endpoint = endpoint;
    this.#close = close;
  }

  static async start(host: string, address = '127.0.0.1'): Promise<Tenant> {
    const authority = await TestAuthority.create(`${host}-ca`);
    const serving = await authority.issue({ commonName: host, names: [host] });
    const sockets = new Set<TLSSocket>();
    const server = createServer({ ...serving, allowHalfOpen: true }, (socket) => {
      sockets.add(socket);
      tenant.names.push(String(socket.servername));
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
      socket.pipe(socket);
    });
    server.on('connection', () => tenant.connections++);
    server.on('tlsClientError', () => {});
    server.listen(0, address);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const endpoint = address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
    const tenant = new Tenant(host, authority.cert, endpoint, async () => {
      for (const socket of sockets) socket.destroy();
      const closed = once(server, 'close');
      server.close();
      await closed;
    });
    return tenant;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}

/** Returns a client after a verified TLS handshake with the tenant. @throws the TLS error if the handshake fails. */
export async function handshake(
  port: number,
  tenant: Tenant,
  options: { readonly servername?: string; readonly address?: string } = {},
): Promise<TLSSocket> {
  const socket = connect({
    host: options.address ?? '127.0.0.1',
    port,
    ca: tenant.ca,
    servername: options.servername ?? tenant.host,
  });
  await once(socket, 'secureConnect');
  socket.on('error', () => {});
  return socket;
}

/** Sends a text and returns the reply of the same length. */
export async function echoed(socket: TLSSocket, text: string): Promise<string> {
  socket.write(text);
  let answer = '';
  while (answer.length < text.length) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    answer += chunk.toString();
  }
  return answer;
}
