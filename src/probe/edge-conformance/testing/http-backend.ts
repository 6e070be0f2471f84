/**
 * For tests only: a server of HTTP/2 and HTTP/1.1 as it is behind an edge, with a CA of its own.
 */
import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { TestAuthority, type Pair } from '../../../net/testing/certificates.ts';

/** Options of {@link HttpBackend.start}. */
export interface HttpBackendOptions {
  /** Default: its own host alone. */
  readonly names?: readonly string[];
  /** Default: a new one. */
  readonly authority?: TestAuthority;
}

/** One that runs. It refuses everybody, as API servers refuse strangers, and asks for client certificates. */
export class HttpBackend implements AsyncDisposable {
  readonly host: string;
  readonly authority: TestAuthority;
  readonly serving: Pair;
  readonly port: number;
  /** The requests that came, as `1.1 GET /version`. */
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
    // Clients that look at the certificate and hang up are what it is for.
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
