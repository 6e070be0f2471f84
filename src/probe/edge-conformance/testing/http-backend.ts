/**
 * For tests only: an HTTP/2 and HTTP/1.1 server behind an edge, with its own CA.
 */
import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { TestAuthority, type Pair } from '../../../net/testing/certificates.ts';

/** Options of {@link HttpBackend.start}. */
export interface HttpBackendOptions {
  /** Default: only its host. */
  readonly names?: readonly string[];
  /** Default: a new one. */
  readonly authority?: TestAuthority;
}

/**
 * A running server. It rejects all requests, as API servers reject anonymous ones, and requests client certificates.
 */
export class HttpBackend implements AsyncDisposable {
  readonly host: string;
  readonly authority: TestAuthority;
  readonly serving: Pair;
  readonly port: number;
  /** The received requests, such as `1.1 GET /version`. */
  readonly requests: string[];
  readonly #close: () => Promise<void>;

  private constructor(
    values: Pick<HttpBackend, 'host' | 'authority' | 'serving' | 'port' | 'requests'>,
    close: () => Promise<void>,
  ) {
    this.host = values.host;
    this.authority = values.authority;
    this.serving = values.serving;
    this.port = values.port;
    this.requests = values.requests;
    this.#close = close;
  }

  static async start(host: string, options: HttpBackendOptions = {}): Promise<HttpBackend> {
    const authority = options.authority ?? (await TestAuthority.create(`${host}-ca`));
    const names = options.names ?? [host];
    const serving = await authority.issue({ commonName: 'kube-apiserver', names });
    const requests: string[] = [];
    const sockets = new Set<Socket>();
    const server = createSecureServer(
      {
        ...serving,
        ca: authority.cert,
        requestCert: true,
        rejectUnauthorized: false,
        allowHTTP1: true,
      },
      (request, response) => {
        requests.push(`${request.httpVersion} ${request.method} ${request.url}`);
        response.writeHead(403, { 'content-type': 'application/json' });
        response.end('{"kind":"Status","apiVersion":"v1","status":"Failure","code":403}');
      },
    );
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    // Clients that check the certificate and disconnect are expected.
    server.on('tlsClientError', () => {});
    server.on('sessionError', () => {});
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return new HttpBackend({ host, authority, serving, port, requests }, async () => {
      for (const socket of sockets) socket.destroy();
      const closed = once(server, 'close');
      server.close();
      await closed;
    });
  }

  get endpoint(): string {
    return `127.0.0.1:${this.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}
