/**
 * For tests only: real TLS on loopback in front of a {@link TestCluster}.
 *
 * Uses node:https and not Bun.serve, which delays the headers until there is a body: a watch without events would not
 * open.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Pair } from '../../net/testing/certificates.ts';
import type { ResponseWriter } from './api-response.ts';
import { httpResponse } from './http-response.ts';
import type { ApiRequest } from './test-cluster.ts';

/** Handles a request. */
export type Serve = (request: ApiRequest, response: ResponseWriter) => Promise<void>;

/** A port that can be opened and closed. */
export class TlsListener {
  readonly #server: Server;
  readonly #serve: Serve;
  #port = 0;

  /** @param ca - The CA of client certificates. */
  constructor({ cert, key }: Pair, ca: string, serve: Serve) {
    this.#serve = serve;
    const tls = { cert, key, ca, requestCert: true, rejectUnauthorized: false };
    this.#server = createServer(tls, (request, response) => {
      // Only the connection can fail here: the client has disconnected.
      this.#receive(request, response).catch(() => response.destroy());
    });
    // As in a real server, idle connections stay open. Otherwise a request may meet a closing connection.
    this.#server.keepAliveTimeout = 0;
  }

  get port(): number {
    return this.#port;
  }

  /** Resets all connections. */
  resetConnections(): void {
    this.#server.closeAllConnections();
  }

  /** Accepts connections, on the same port as before. */
  async open(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once('error', reject);
    this.#server.listen(this.#port, '127.0.0.1', resolve);
    await promise;
    this.#server.off('error', reject);
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Refuses new connections and keeps the open ones. */
  stopAccepting(): void {
    this.#server.close();
  }

  /** Resets all connections and refuses new ones. */
  async close(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    // A connection in the middle of its handshake is not known yet, and would keep the server open.
    const again = setInterval(() => this.#server.closeAllConnections(), 10);
    this.#server.closeAllConnections();
    await promise;
    clearInterval(again);
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    response.setHeader('audit-id', crypto.randomUUID());
    const { socket } = request;
    await this.#serve(
      {
        method: request.method ?? 'GET',
        url: new URL(request.url ?? '/', 'https://127.0.0.1'),
        header: (name) => String(request.headers[name] ?? ''),
        body,
        hasCertificate: 'authorized' in socket && socket.authorized === true,
      },
      httpResponse(response),
    );
  }
}
