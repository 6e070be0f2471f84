/**
 * For tests only: a {@link TestCluster} behind real TLS on loopback.
 *
 * On node:https and not on Bun.serve, which holds the head of an answer back until there is a body: a watch of a quiet
 * kind would not even open.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { TestAuthority, type Pair } from '../../proxy/testing/certificates.ts';
import type { Credentials } from '../access/cluster-access.ts';
import { httpResponse } from './http-response.ts';
import { TestCluster, type TestClusterOptions } from './test-cluster.ts';

/** Options of {@link TestApiServer.start}. */
export interface ApiServerOptions extends TestClusterOptions {
  /** How callers say who they are. Default `token`. */
  readonly credentials?: 'token' | 'certificate';
  /** Names in its certificate besides those of the machine. Default: none. */
  readonly names?: readonly string[];
  /** What it serves with, and the CA behind that (PEM). Default: a certificate by a CA of its own. */
  readonly serving?: Pair & { readonly ca: string };
}

/** A test has no minute to wait for a bookmark. */
const BOOKMARK_EVERY_MS = 50;

/** A server that runs. `await using server = await TestApiServer.start()` ends it with the scope. */
export class TestApiServer extends TestCluster {
  readonly #server: Server;
  #port = 0;

  private constructor(ca: string, pair: Pair, credentials: Credentials, options: ApiServerOptions) {
    super(ca, credentials, { bookmarkEveryMs: BOOKMARK_EVERY_MS, ...options });
    const tls = {
      cert: pair.cert,
      key: pair.key,
      ca,
      requestCert: true,
      rejectUnauthorized: false,
    };
    this.#server = createServer(tls, (request, response) => {
      // Only the connection can fail here: who asked has left.
      this.#receive(request, response).catch(() => response.destroy());
    });
    // As in a real one, an idle connection stays: else a request may meet its end.
    this.#server.keepAliveTimeout = 0;
  }

  static async start(options: ApiServerOptions = {}): Promise<TestApiServer> {
    const authority = await TestAuthority.create('api-server-ca');
    const names = ['127.0.0.1', 'localhost', 'kubernetes', ...(options.names ?? [])];
    const pair = options.serving ?? (await authority.issue({ names }));
    const credentials: Credentials =
      options.credentials === 'certificate'
        ? { kind: 'certificate', ...(await authority.issue({ commonName: 'snicket' })) }
        : { kind: 'token', token: crypto.randomUUID() };
    const ca = options.serving?.ca ?? authority.cert;
    const server = new TestApiServer(ca, pair, credentials, options);
    await server.comeUp();
    return server;
  }

  /** As `https://127.0.0.1:12345`. */
  override get url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  override resetConnections(): void {
    this.#server.closeAllConnections();
  }

  override async comeUp(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once('error', reject);
    this.#server.listen(this.#port, '127.0.0.1', resolve);
    await promise;
    this.#server.off('error', reject);
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  override async goDown(): Promise<void> {
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
    await this.serve(
      {
        method: request.method ?? 'GET',
        url: new URL(request.url ?? '/', this.url),
        header: (name) => String(request.headers[name] ?? ''),
        body,
        hasCertificate: 'authorized' in socket && socket.authorized === true,
      },
      httpResponse(response),
    );
  }
}
