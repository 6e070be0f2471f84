/**
 * For tests only: a scripted HTTP server that can also misbehave.
 */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';
import type { Pair } from '../../../net/testing/certificates.ts';

/** A received request and the ways to respond to it. */
export interface Exchange {
  readonly verb: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: string;
  /** The common name of the client certificate. */
  readonly peer: string | undefined;
  /** Sends a response and keeps the connection open. */
  readonly respond: (
    status: number,
    body: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => void;
  /** Starts a chunked response. */
  readonly open: () => void;
  /** Sends a chunk. */
  readonly write: (bytes: string | Uint8Array) => void;
  /** Ends a chunked response. */
  readonly finish: () => void;
  readonly reset: () => void;
  /** Whether the connection is closed. */
  readonly isClosed: boolean;
}

/** Handles each request. A script that does nothing makes the request hang. */
export type Script = (exchange: Exchange) => void;

/** Options of {@link startServer}. */
export interface TestServerOptions {
  readonly tls?: Pair & { readonly clientCa?: string };
  /** Default: any free port. */
  readonly port?: number;
}

/** A server on 127.0.0.1. */
export interface TestServer {
  readonly url: string;
  readonly port: number;
  /** All requests so far. */
  readonly exchanges: readonly Exchange[];
  /** The number of accepted connections. */
  readonly connections: number;
  /** The script for further requests. */
  script: Script;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts a server. */
export async function startServer(
  script: Script,
  { tls, port = 0 }: TestServerOptions = {},
): Promise<TestServer> {
  const sockets = new Set<Socket>();
  const exchanges: Exchange[] = [];
  let connections = 0;
  const accept = (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    serve(socket, (exchange) => {
      exchanges.push(exchange);
      test.script(exchange);
    });
  };
  const server =
    tls === undefined
      ? createServer(accept)
      : createTlsServer(
          {
            cert: tls.cert,
            key: tls.key,
            ca: tls.clientCa,
            requestCert: tls.clientCa !== undefined,
            rejectUnauthorized: tls.clientCa !== undefined,
          },
          accept,
        );
  await listening(server, port);
  const { port: actualPort } = server.address() as AddressInfo;
  const test = {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${actualPort}`,
    port: actualPort,
    exchanges,
    script,
    get connections() {
      return connections;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return test;
}

async function listening(server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
}

/** Serves one request at a time. Clients in these tests do not pipeline. */
function serve(socket: Socket, onExchange: (exchange: Exchange) => void): void {
  let received = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    const headEnd = received.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const [first = '', ...lines] = received.subarray(0, headEnd).toString('latin1').split('\r\n');
    const headers = new Headers(
      lines.map((line): [string, string] => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon), line.slice(colon + 1).trim()];
      }),
    );
    const bodyEnd = headEnd + 4 + Number(headers.get('content-length') ?? 0);
    if (received.length < bodyEnd) return;
    const body = received.subarray(headEnd + 4, bodyEnd).toString('utf8');
    received = received.subarray(bodyEnd);
    const [verb = '', target = ''] = first.split(' ');
    onExchange(exchangeOn(socket, verb, new URL(target, 'http://test'), headers, body));
  });
}

function exchangeOn(
  socket: Socket,
  verb: string,
  url: URL,
  headers: Headers,
  body: string,
): Exchange {
  return {
    verb,
    path: url.pathname,
    query: url.searchParams,
    headers,
    body,
    peer: socket instanceof TLSSocket ? String(socket.getPeerCertificate().subject?.CN) : undefined,
    respond(status, response, extra = {}) {
      const bytes = Buffer.from(typeof response === 'string' ? response : JSON.stringify(response));
      const fields = { 'content-length': String(bytes.length), ...extra };
      const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`HTTP/1.1 ${status} x\r\n${lines.join('')}\r\n`);
      socket.write(bytes);
    },
    open() {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    },
    write(chunk) {
      const bytes = Buffer.from(chunk);
      socket.write(`${bytes.length.toString(16)}\r\n`);
      socket.write(bytes);
      socket.write('\r\n');
    },
    finish() {
      socket.write('0\r\n\r\n');
    },
    reset() {
      socket.resetAndDestroy();
    },
    get isClosed() {
      return socket.destroyed;
    },
  };
}
