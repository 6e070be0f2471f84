/**
 * For tests only: a TLS server in place of a tenant's API server. It echoes bytes and records the handshakes of its
 * clients.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { Pair } from '../../net/testing/certificates.ts';

/** Options of {@link ApiServer.start}. */
export interface ApiServerOptions {
  readonly serving: Pair;
  /** Default: h2, http/1.1. */
  readonly protocols?: readonly string[];
  /** The CA of client certificates. If set, the server requests one. */
  readonly clientCa?: string;
  /** Default: echo. */
  readonly onConnection?: (socket: TLSSocket) => void;
  /** Default: TLSv1.3. */
  readonly maxVersion?: 'TLSv1.2' | 'TLSv1.3';
  /** Default: any free port. */
  readonly port?: number;
  readonly address?: string;
}

/** A running API server. */
export class ApiServer implements AsyncDisposable {
  readonly port: number;
  /** Number of TCP connections, with or without TLS. */
  connections = 0;
  /** Number of bytes of clients after the handshake. */
  received = 0;
  readonly sockets: TLSSocket[] = [];
  /** The server names and the protocols of all handshakes. */
  readonly serverNames: string[] = [];
  readonly protocols: (string | false | null)[] = [];
  /** Common names of client certificates. */
  readonly clients: string[] = [];
  readonly #server: Server;

  private constructor(server: Server, options: ApiServerOptions) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    const { onConnection = echo } = options;
    server.on('connection', () => this.connections++);
    server.on('tlsClientError', () => {});
    server.on('secureConnection', (socket) => {
      this.sockets.push(socket);
      this.serverNames.push(String(socket.servername));
      this.protocols.push(socket.alpnProtocol);
      const { subject } = socket.getPeerCertificate();
      if (subject?.CN !== undefined) this.clients.push(String(subject.CN));
      socket.on('data', (chunk: Buffer) => (this.received += chunk.length));
      socket.on('error', () => {});
      onConnection(socket);
    });
  }

  static async start(options: ApiServerOptions): Promise<ApiServer> {
    const { serving, clientCa, protocols = ['h2', 'http/1.1'] } = options;
    const clientAuth = clientCa === undefined ? {} : { ca: clientCa, requestCert: true };
    const server = createServer({
      ...serving,
      ...clientAuth,
      maxVersion: options.maxVersion ?? 'TLSv1.3',
      rejectUnauthorized: false,
      ...(protocols.length > 0 && { ALPNProtocols: [...protocols] }),
      allowHalfOpen: true,
    });
    server.listen(options.port ?? 0, options.address ?? '127.0.0.1');
    await once(server, 'listening');
    return new ApiServer(server, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }
}

/** Echoes all bytes, and the FIN after them. */
export function echo(socket: TLSSocket): void {
  socket.on('data', (chunk: Buffer) => {
    if (!socket.write(chunk)) {
      socket.pause();
      socket.once('drain', () => socket.resume());
    }
  });
  socket.on('end', () => socket.end());
}
