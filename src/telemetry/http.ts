/**
 * The small HTTP server of every long-running command: liveness, readiness and metrics.
 *
 * It uses plain sockets. Bun.serve accepts any number of connections, and when file descriptors run out it spins and
 * starves the data plane. This server answers a few connections at a time, one request each, with a timeout of a few
 * seconds.
 */
import type { Socket, SocketHandler, TCPSocketListenOptions } from 'bun';
import { systemClock, type Clock } from '../clock/clock.ts';
import { encodeResponse, type HttpResponse, type EncodedResponse } from './http/response.ts';
import { connectionToEvict } from './http/eviction.ts';
import { metricsPagesOf } from './http/metrics-pages.ts';
import type { Metrics } from './metrics.ts';
import { registerProcessMetrics } from './process-metrics.ts';

interface HttpOptions {
  /** An IPv6 address accepts no IPv4 connections: serve on `0.0.0.0` and `::` for both. */
  readonly address: string;
  /** 0 means any free port. */
  readonly port: number;
  /** Whether another process of the same user may listen on the port at the same time (SO_REUSEPORT). Default: no. */
  readonly reusePort?: boolean;
  /** The metrics to serve. The process metrics are added to them. */
  readonly metrics: Metrics;
  /** Returns why the process is not ready, as a sentence, or undefined if it is ready. */
  readonly notReady: () => string | undefined;
  /** From accept to the last byte of the response. Default 10,000. */
  readonly timeoutMs?: number;
  /** Measures the age of connections and pages. Default: the system clock. */
  readonly clock?: Clock;
}

/** A running server. */
export interface HttpServer {
  readonly port: number;
  stop(): void;
}

/**
 * Enough for the kubelet and a few scrapers. Fewer than the file descriptors that engines leave to the rest of the
 * process.
 */
export const MAX_HTTP_CONNECTIONS = 24;

const MAX_REQUEST_BYTES = 16 * 1024;
const NO_BYTES = new Uint8Array();
/** One connection, with the request received so far and the response that is not sent yet. */
interface Exchange {
  readonly source: string;
  readonly sinceMs: number;
  request: string;
  unsent: Uint8Array | undefined;
  /** Releases the page that the response is a part of. */
  release: (() => void) | undefined;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** Bun declares these two options only for Bun.connect. */
interface ListenOptions extends TCPSocketListenOptions<Exchange | undefined> {
  readonly reusePort: boolean;
  readonly ipv6Only: boolean;
}

/** Serves /healthz, /readyz and /metrics. @throws the system's error if it cannot listen. */
export function serveHttp(options: HttpOptions): HttpServer {
  registerProcessMetrics(options.metrics);
  const open = new Set<Socket<Exchange | undefined>>();
  const listenOptions: ListenOptions = {
    hostname: options.address,
    port: options.port,
    reusePort: options.reusePort ?? false,
    ipv6Only: options.address.includes(':'),
    socket: handlers(options, open),
  };
  const listener = Bun.listen(listenOptions);
  return {
    port: listener.port,
    stop() {
      listener.stop();
      for (const socket of open) socket.terminate();
    },
  };
}

function handlers(
  options: HttpOptions,
  open: Set<Socket<Exchange | undefined>>,
): SocketHandler<Exchange | undefined> {
  const pages = pagesOf(options);
  const { clock = systemClock } = options;
  return {
    open(socket) {
      const sinceMs = clock.nowMs();
      if (open.size >= MAX_HTTP_CONNECTIONS) evictOne(open, sinceMs);
      open.add(socket);
      const timer = setTimeout(() => socket.terminate(), options.timeoutMs ?? 10_000);
      const source = socket.remoteAddress;
      socket.data = { source, sinceMs, request: '', unsent: undefined, release: undefined, timer };
    },
    data(socket, chunk) {
      const exchange = socket.data;
      if (exchange === undefined || exchange.unsent !== undefined) return;
      exchange.request += chunk.toString('latin1');
      const response = responseTo(exchange, pages);
      if (response === undefined) return;
      exchange.unsent = response;
      send(socket, exchange);
    },
    drain(socket) {
      if (socket.data?.unsent !== undefined) send(socket, socket.data);
    },
    close(socket) {
      open.delete(socket);
      if (socket.data === undefined) return;
      clearTimeout(socket.data.timer);
      releasePage(socket.data);
    },
    error: (socket) => socket.terminate(),
  };
}

function evictOne(open: Set<Socket<Exchange | undefined>>, nowMs: number): void {
  const candidates = [...open].map((socket) => {
    const { source = '', sinceMs = 0, unsent } = socket.data ?? {};
    return { socket, source, sinceMs, hasRequest: unsent !== undefined };
  });
  const evicted = connectionToEvict(candidates, nowMs);
  if (evicted === undefined) return;
  open.delete(evicted.socket);
  evicted.socket.terminate();
}

/** Returns the response for a path. @throws any error, which is sent as status 500. */
type Page = (exchange: Exchange) => HttpResponse | EncodedResponse;

function pagesOf({
  metrics,
  notReady,
  clock = systemClock,
}: HttpOptions): ReadonlyMap<string, Page> {
  const metricsPages = metricsPagesOf(metrics);
  return new Map<string, Page>([
    ['/healthz', () => ({ status: 200, body: 'ok\n' })],
    [
      '/readyz',
      () => {
        const reason = notReady();
        return reason === undefined
          ? { status: 200, body: 'ready\n' }
          : { status: 503, body: `${reason}\n` };
      },
    ],
    [
      '/metrics',
      (exchange) => {
        const page = metricsPages.acquire(clock.nowMs());
        exchange.release = () => metricsPages.release(page);
        return page.bytes;
      },
    ],
  ]);
}

/** Returns the response as bytes, once the request header is complete. */
function responseTo(exchange: Exchange, pages: ReadonlyMap<string, Page>): Uint8Array | undefined {
  const { request } = exchange;
  const isComplete = request.includes('\r\n\r\n') || request.includes('\n\n');
  if (!isComplete && request.length <= MAX_REQUEST_BYTES) return undefined;
  const [, method = '', path = ''] =
    /^([A-Z]+) ([^ ?#]*)[^ ]* HTTP\/1\.[01]\r?\n/.exec(request) ?? [];
  const response = isComplete
    ? pageFor(method, path, pages, exchange)
    : ({ status: 431, body: `request header exceeds ${MAX_REQUEST_BYTES} bytes\n` } as const);
  const { bytes, head } = 'bytes' in response ? response : encodeResponse(response);
  return method === 'HEAD' ? head : bytes;
}

function pageFor(
  method: string,
  path: string,
  pages: ReadonlyMap<string, Page>,
  exchange: Exchange,
): HttpResponse | EncodedResponse {
  if (method === '') return { status: 400, body: 'not an HTTP/1.1 request\n' };
  const page = pages.get(path);
  if (page === undefined)
    return { status: 404, body: `page not found; available: ${[...pages.keys()].join(', ')}\n` };
  if (method !== 'GET' && method !== 'HEAD') {
    return { status: 405, body: `method ${method} not allowed; use GET\n` };
  }
  try {
    return page(exchange);
  } catch (error) {
    // A bug in a metric. The client gets the message.
    return { status: 500, body: `${error instanceof Error ? error.message : String(error)}\n` };
  }
}

/** Sends as much as the socket takes. The rest follows when it drains. */
function send(socket: Socket<Exchange | undefined>, exchange: Exchange): void {
  const unsent = exchange.unsent ?? NO_BYTES;
  const written = Math.max(0, socket.write(unsent));
  if (written < unsent.length) {
    exchange.unsent = unsent.subarray(written);
    return;
  }
  releasePage(exchange);
  socket.end();
}

/**
 * Releases the response once it is sent or the connection is closed. Even an empty subarray would keep the page in
 * memory.
 */
function releasePage(exchange: Exchange): void {
  exchange.unsent = NO_BYTES;
  exchange.release?.();
  exchange.release = undefined;
}
