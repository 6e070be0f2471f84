/**
 * The small HTTP server of every long-running command: liveness, readiness and metrics.
 *
 * It uses plain sockets. Bun.serve accepts any number of connections, and when file descriptors run out it spins and
 * starves the data plane. This server answers a few connections at a time, one request each, with a timeout of a few
 * seconds.
 */
import type { Socket, SocketHandler, TCPSocketListenOptions } from 'bun';
import { systemClock, type Clock } from '../clock/clock.ts';
import { encodeAnswer, type Answer, type AnswerBytes } from './http/answer.ts';
import { whoLeaves } from './http/leaving.ts';
import { metricsPagesOf } from './http/metrics-pages.ts';
import type { Metrics } from './metrics.ts';
import { registerProcessMetrics } from './process-metrics.ts';

/** Options of {@link serveHttp}. */
export interface HttpOptions {
  /** An IPv6 address accepts no IPv4 connections: serve on `0.0.0.0` and `::` for both. */
  readonly address: string;
  /** 0 means any free port. */
  readonly port: number;
  /** Whether another process of the same user may listen on the port at the same time (SO_REUSEPORT). Default: no. */
  readonly reusePort?: boolean;
  /** The process metrics are added to these. */
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
const NOTHING = new Uint8Array();
/** One connection, with the request received so far and the response that is not sent yet. */
interface Exchange {
  readonly source: string;
  readonly sinceMs: number;
  request: string;
  unsent: Uint8Array | undefined;
  /** Releases the page that the response is a part of. */
  letGo: (() => void) | undefined;
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
      if (open.size >= MAX_HTTP_CONNECTIONS) makeRoom(open, sinceMs);
      open.add(socket);
      const timer = setTimeout(() => socket.terminate(), options.timeoutMs ?? 10_000);
      const source = socket.remoteAddress;
      socket.data = { source, sinceMs, request: '', unsent: undefined, letGo: undefined, timer };
    },
    data(socket, chunk) {
      const exchange = socket.data;
      if (exchange === undefined || exchange.unsent !== undefined) return;
      exchange.request += chunk.toString('latin1');
      const answer = answerTo(exchange, pages);
      if (answer === undefined) return;
      exchange.unsent = answer;
      send(socket, exchange);
    },
    drain(socket) {
      if (socket.data?.unsent !== undefined) send(socket, socket.data);
    },
    close(socket) {
      open.delete(socket);
      if (socket.data === undefined) return;
      clearTimeout(socket.data.timer);
      letGo(socket.data);
    },
    error: (socket) => socket.terminate(),
  };
}

function makeRoom(open: Set<Socket<Exchange | undefined>>, nowMs: number): void {
  const visitors = [...open].map((socket) => {
    const { source = '', sinceMs = 0, unsent } = socket.data ?? {};
    return { socket, source, sinceMs, hasAsked: unsent !== undefined };
  });
  const leaving = whoLeaves(visitors, nowMs);
  if (leaving === undefined) return;
  open.delete(leaving.socket);
  leaving.socket.terminate();
}

/** Returns the response for a path. @throws any error, which is sent as status 500. */
type Page = (exchange: Exchange) => Answer | AnswerBytes;

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
        const page = metricsPages.take(clock.nowMs());
        exchange.letGo = () => metricsPages.leave(page);
        return page.bytes;
      },
    ],
  ]);
}

/** Returns the response as bytes, once the request header is complete. */
function answerTo(exchange: Exchange, pages: ReadonlyMap<string, Page>): Uint8Array | undefined {
  const { request } = exchange;
  const isComplete = request.includes('\r\n\r\n') || request.includes('\n\n');
  if (!isComplete && request.length <= MAX_REQUEST_BYTES) return undefined;
  const [, method = '', path = ''] =
    /^([A-Z]+) ([^ ?#]*)[^ ]* HTTP\/1\.[01]\r?\n/.exec(request) ?? [];
  const answer = isComplete
    ? pageFor(method, path, pages, exchange)
    : ({ status: 431, body: `More than ${MAX_REQUEST_BYTES} bytes of header.\n` } as const);
  const { whole, head } = 'whole' in answer ? answer : encodeAnswer(answer);
  return method === 'HEAD' ? head : whole;
}

function pageFor(
  method: string,
  path: string,
  pages: ReadonlyMap<string, Page>,
  exchange: Exchange,
): Answer | AnswerBytes {
  if (method === '') return { status: 400, body: 'That is not HTTP/1.1.\n' };
  const page = pages.get(path);
  if (page === undefined)
    return { status: 404, body: `There are ${[...pages.keys()].join(', ')}.\n` };
  if (method !== 'GET' && method !== 'HEAD') {
    return { status: 405, body: `${method} is not for this page; use GET.\n` };
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
  const unsent = exchange.unsent ?? NOTHING;
  const written = Math.max(0, socket.write(unsent));
  if (written < unsent.length) {
    exchange.unsent = unsent.subarray(written);
    return;
  }
  letGo(exchange);
  socket.end();
}

/**
 * Releases the response once it is sent or the connection is closed. Even an empty subarray would keep the page in
 * memory.
 */
function letGo(exchange: Exchange): void {
  exchange.unsent = NOTHING;
  exchange.letGo?.();
  exchange.letGo = undefined;
}
