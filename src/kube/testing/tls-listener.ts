/**
 * For tests only: real TLS on loopback in front of a {@link TestCluster}.
 *
 * On node:https and not on Bun.serve, which holds the head of an answer back until there is a body: a watch of a quiet
 * kind would not even open.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Pair } from '../../net/testing/certificates.ts';
import type { ApiResponse } from './api-response.ts';
import { httpResponse } from './http-response.ts';
import type { ApiRequest } from './test-cluster.ts';

/** Answers a request. */
export type Serve = (request: ApiRequest, response: ApiResponse) => Promise<void>;

/** A port that takes connections, or does not. */
export class TlsListener {
  readonly #server: Server;
  readonly #serve: Serve;
  #port = 0;

  /** @param ca - Of the client certificates that count. */
  constructor({ cert, key }: Pair, ca: string, serve: Serve) {
    this.#serve = serve;
    const tls = { cert, key, ca, requestCert: true, rejectUnauthorized: false };
    this.#server = createServer(tls, (request, response) => {
      // Only the connection can fail here: who asked has left.
      this.#receive(request, response).catch(() => response.destroy());
    });
    // As in a real one, an idle connection stays: else a request may meet its end.
    this.#server.keepAliveTimeout = 0;
  }

  get port(): number {
    return this.#port;
  }

  /** Breaks all connections. */
  resetConnections(): void {
    this.#server.closeAllConnections();
  }

  /** Takes connections, on the port that it had before. */
  async open(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once('error', reject);
    this.#server.listen(this.#port, '127.0.0.1', resolve);
    await promise;
    this.#server.off('error', reject);
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Refuses new connections and keeps those that are open. */
  stopAccepting(): void {
    this.#server.close();
  }

  /** Breaks all connections and refuses new ones. */
  async close(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    // One that is in the middle of its handshake is not known as a connection yet, and would keep the server open.
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
