/**
 * The small HTTP server beside every long-running role: is it alive, is it ready, what has it counted.
 */
import type { Metrics } from './metrics.ts';
import { registerProcessMetrics } from './process-metrics.ts';

/** Options of {@link serveHttp}. */
export interface HttpOptions {
  /** An IPv6 one takes no IPv4 connections: serve on `0.0.0.0` and `::` to have both. */
  readonly address: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Gets the metrics of the process too. */
  readonly metrics: Metrics;
  /** Why the process is not ready, as a sentence; nothing if it is. */
  readonly notReady: () => string | undefined;
}

/** A server that runs. */
export interface HttpServer {
  readonly port: number;
  stop(): void;
}

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Serves /healthz, /readyz and /metrics. @throws the system's error if it cannot listen. */
export function serveHttp({ address, port, metrics, notReady }: HttpOptions): HttpServer {
  registerProcessMetrics(metrics);
  const server = Bun.serve({
    hostname: address,
    port,
    ipv6Only: address.includes(':'),
    // A scraper holds its connection open; that must not keep anything waiting at the end.
    idleTimeout: 60,
    development: false,
    fetch(request) {
      const page = pages.get(new URL(request.url).pathname);
      if (page === undefined) return text(404, `There are ${[...pages.keys()].join(', ')}.`);
      if (request.method === 'GET' || request.method === 'HEAD') return page();
      return text(405, `${request.method} is not for this page; use GET.`, { allow: 'GET, HEAD' });
    },
  });
  const pages = new Map<string, () => Response>([
    ['/healthz', () => text(200, 'ok')],
    [
      '/readyz',
      () => {
        const reason = notReady();
        return reason === undefined ? text(200, 'ready') : text(503, reason);
      },
    ],
    ['/metrics', () => new Response(metrics.text(), { headers: { 'content-type': METRICS_TYPE } })],
  ]);
  return { port: server.port ?? port, stop: () => void server.stop(true) };
}

function text(status: number, sentence: string, headers: Record<string, string> = {}): Response {
  return new Response(`${sentence}\n`, {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
  });
}
