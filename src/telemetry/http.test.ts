import { afterEach, expect, test } from 'bun:test';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { ManualClock } from '../clock/manual-clock.ts';
import { LARGE_PAGE_MS, MAX_LARGE_PAGES } from './http/metrics-pages.ts';
import { MAX_HTTP_CONNECTIONS, serveHttp, type HttpServer } from './http.ts';
import { Metrics } from './metrics.ts';

let server: HttpServer | undefined;
let reason: string | undefined;

function serve(address = '127.0.0.1') {
  const metrics = new Metrics();
  metrics.register({ name: 'n', help: 'N.', type: 'gauge', samples: () => [{ value: 4 }] });
  server = serveHttp({ address, port: 0, metrics, notReady: () => reason });
  const host = address.includes(':') ? `[${address}]` : address;
  return (path: string, init?: RequestInit) => fetch(`http://${host}:${server?.port}${path}`, init);
}

afterEach(() => {
  server?.stop();
  reason = undefined;
});

test('reports liveness', async () => {
  const get = serve();

  expect((await get('/healthz')).status).toBe(200);
});

test('reports readiness, or the reason why the process is not ready', async () => {
  const get = serve();
  const ready = await get('/readyz');
  reason = 'the routes file is missing';
  const unready = await get('/readyz');

  expect(ready.status).toBe(200);
  expect(unready.status).toBe(503);
  expect(await unready.text()).toBe('the routes file is missing\n');
});

test('serves the metrics, including those of its process', async () => {
  const get = serve('::1');

  const response = await get('/metrics');
  const page = await response.text();

  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(page).toContain('\nn 4\n');
  expect(page).toMatch(/^process_resident_memory_bytes \d{7,}$/m);
  expect(page).toMatch(/^process_open_fds [1-9]\d*$/m);
  expect(page).toMatch(/^snicket_log_lines_lost_total 0$/m);
  expect(page).toMatch(/^snicket_build_info\{version="[^"]+",bun="[^"]+"\} 1$/m);
});

test('serves the same metrics on IPv4 and IPv6 of one port', () => {
  const metrics = new Metrics();
  const ipv4 = serveHttp({ address: '0.0.0.0', port: 0, metrics, notReady: () => undefined });
  server = serveHttp({ address: '::', port: ipv4.port, metrics, notReady: () => undefined });

  expect(server.port).toBe(ipv4.port);
  ipv4.stop();
});

test('shares its port with the next version if requested', async () => {
  const metrics = new Metrics();
  const options = { address: '127.0.0.1', reusePort: true };
  const before = serveHttp({ ...options, port: 0, metrics, notReady: () => 'the old one' });
  const { port } = before;
  server = serveHttp({ ...options, port, metrics: new Metrics(), notReady: () => 'the new one' });
  const responses = new Set<string>();
  const deadlineMs = performance.now() + 200_000;
  while (responses.size < 2 && performance.now() < deadlineMs) {
    responses.add(await send(port, 'GET /readyz HTTP/1.1\r\n\r\n').then((text) => text.slice(-12)));
  }

  before.stop();

  const rest = await fetch(`http://127.0.0.1:${port}/readyz`);
  expect([...responses].toSorted()).toEqual(['the new one\n', 'the old one\n']);
  expect(await rest.text()).toBe('the new one\n');
});

test('does not share its port unless requested', () => {
  serve();
  const { port } = server!;
  const metrics = new Metrics();
  const again = { address: '127.0.0.1', port, metrics, notReady: () => undefined };

  expect(() => serveHttp(again)).toThrow(expect.objectContaining({ code: 'EADDRINUSE' }));
  expect(() => serveHttp({ ...again, reusePort: true })).toThrow(
    expect.objectContaining({ code: 'EADDRINUSE' }),
  );
});

test('rejects other paths and methods', async () => {
  const get = serve();

  const unknownPath = await get('/nowhere');
  const posted = await get('/healthz', { method: 'POST' });

  expect(unknownPath.status).toBe(404);
  expect(await unknownPath.text()).toContain('/readyz');
  expect(posted.status).toBe(405);
  expect(posted.headers.get('allow')).toBe('GET, HEAD');
  expect((await get('/healthz', { method: 'HEAD' })).status).toBe(200);
});

/** Sends raw bytes, which fetch would not send, and returns the response received before the connection closes. */
async function send(port: number, text: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let response = '';
  await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      open: (socket) => void socket.write(text),
      data: (_socket, chunk) => void (response += chunk.toString()),
      close: () => resolve(response),
    },
  });
  return promise;
}

test.each([
  ['an invalid host', 'GET /healthz HTTP/1.1\r\nHost: [::\r\n\r\n', 'HTTP/1.1 200 OK'],
  ['a request without a host', 'GET /healthz?x=1 HTTP/1.0\r\n\r\n', 'HTTP/1.1 200 OK'],
  ['a request that is not HTTP', 'hello\r\n\r\n', 'HTTP/1.1 400 Bad Request'],
  ['a header that is too long', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}`, 'HTTP/1.1 431 '],
])('responds to %s', async (_, text, status) => {
  serve();

  expect(await send(server!.port, text)).toStartWith(status);
});

test('closes a connection whose request takes too long', async () => {
  const metrics = new Metrics();
  const options = { address: '127.0.0.1', port: 0, metrics, notReady: () => undefined };
  server = serveHttp({ ...options, timeoutMs: 50 });

  expect(await send(server.port, 'GET /healthz')).toBe('');
});

test('limits connections, and evicts silent connections when a new one arrives', async () => {
  const get = serve();
  const silent: Bun.Socket[] = [];
  const closed = new Set<number>();
  for (let count = 0; count < MAX_HTTP_CONNECTIONS; count++) {
    const socket = { data() {}, close: () => void closed.add(count) };
    silent.push(await Bun.connect({ hostname: '127.0.0.1', port: server!.port, socket }));
  }

  for (let count = 0; count < 3; count++) {
    expect((await get('/healthz')).status).toBe(200);
  }
  const deadlineMs = performance.now() + 200_000;
  while (closed.size === 0 && performance.now() < deadlineMs) await Bun.sleep(5);

  // Each request evicted a silent connection, or the connection of the previous request.
  expect([...closed][0]).toBe(0);
  expect(closed.size).toBeLessThanOrEqual(3);
  for (const socket of silent) socket.terminate();
});

test('answers a probe during a flood of silent connections from another address', async () => {
  const metrics = new Metrics();
  const clock = new ManualClock(); // never advanced, so no connection gets old
  server = serveHttp({ address: '127.0.0.1', port: 0, metrics, notReady: () => undefined, clock });
  const { port } = server;
  const probe = Promise.withResolvers<string>();
  const probeSocket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data: (_socket, chunk) => probe.resolve(chunk.toString()),
      close: () => probe.resolve('closed'),
    },
  });
  const flood: Socket[] = [];

  for (let count = 0; count < 3 * MAX_HTTP_CONNECTIONS; count++) {
    const socket = connect({ host: '127.0.0.1', port, localAddress: '127.0.0.2' });
    socket.on('error', () => {});
    await once(socket, 'connect');
    flood.push(socket);
  }
  probeSocket.write('GET /healthz HTTP/1.1\r\n\r\n');

  expect(await probe.promise).toStartWith('HTTP/1.1 200 OK');
  for (const socket of flood) socket.destroy();
});

test('responds with the error of a page that cannot be generated', async () => {
  const get = serve();
  reason = undefined;
  const metrics = new Metrics();
  const samples = () => {
    throw new Error('a bug in a metric');
  };
  metrics.register({ name: 'bad', help: 'Bad.', type: 'gauge', samples });
  server?.stop();
  server = serveHttp({ address: '127.0.0.1', port: 0, metrics, notReady: () => undefined });

  const response = await get('/metrics');

  expect(response.status).toBe(500);
  expect(await response.text()).toBe('a bug in a metric\n');
});

const LONG_NAME = 't'.repeat(100);

/**
 * Serves a page of 13 MB, which is more than the kernel buffers for one connection, and counts how often it is
 * generated.
 */
function serveLarge() {
  const metrics = new Metrics();
  const clock = new ManualClock();
  const generated = { times: 0 };
  const samples = () => {
    generated.times++;
    return Array.from({ length: 100_000 }, (_, value) => ({
      labels: { tenant: `${LONG_NAME}${value}` },
      value,
    }));
  };
  metrics.register({ name: 'many', help: 'Many.', type: 'gauge', samples });
  const options = { address: '127.0.0.1', port: 0, metrics, notReady: () => undefined, clock };
  server = serveHttp(options);
  return { port: server.port, clock, generated, options };
}

test('sends a large page completely, with its size', async () => {
  const { port } = serveLarge();

  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  const page = await response.text();
  const head = await send(port, 'HEAD /metrics HTTP/1.1\r\n\r\n');

  expect(page).toContain(`many{tenant="${LONG_NAME}99999"} 99999\n`);
  expect(response.headers.get('content-length')).toBe(String(page.length));
  expect(head).toContain(`Content-Length: ${page.length}\r\n`);
  expect(head).toEndWith('\r\n\r\n');
});

test('generates a large page once per second, for all clients on all addresses', async () => {
  const { port, clock, generated, options } = serveLarge();
  const other = serveHttp(options);
  const lengthFrom = async (from: number) =>
    (await (await fetch(`http://127.0.0.1:${from}/metrics`)).text()).length;

  const lengths = await Promise.all([port, port, port, other.port].map(lengthFrom));
  expect(generated.times).toBe(1);
  expect(new Set(lengths).size).toBe(1);

  clock.advance(LARGE_PAGE_MS);
  await lengthFrom(port);
  expect(generated.times).toBe(2);
  other.stop();
});

test('keeps at most MAX_LARGE_PAGES large pages for clients that do not read, and releases them', async () => {
  const { port, clock, generated } = serveLarge();
  const stalled: Bun.Socket[] = [];
  const untilGenerated = async (times: number) => {
    const deadlineMs = performance.now() + 100_000;
    while (generated.times < times && performance.now() < deadlineMs) await Bun.sleep(1);
    expect(generated.times).toBe(times);
  };
  for (let count = 1; count <= MAX_LARGE_PAGES; count++) {
    const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } });
    socket.pause();
    socket.write('GET /metrics HTTP/1.1\r\n\r\n');
    stalled.push(socket);
    await untilGenerated(count);
    clock.advance(LARGE_PAGE_MS);
  }

  await fetch(`http://127.0.0.1:${port}/metrics`).then((response) => response.text());
  expect(generated.times).toBe(MAX_LARGE_PAGES);

  for (const socket of stalled) socket.terminate();
  const deadlineMs = performance.now() + 100_000;
  while (generated.times === MAX_LARGE_PAGES && performance.now() < deadlineMs) {
    await fetch(`http://127.0.0.1:${port}/metrics`).then((response) => response.text());
  }
  expect(generated.times).toBe(MAX_LARGE_PAGES + 1);
});

test('generates a small page for each request', async () => {
  const metrics = new Metrics();
  let value = 0;
  metrics.register({
    name: 'asked',
    help: 'A.',
    type: 'counter',
    samples: () => [{ value: ++value }],
  });
  const clock = new ManualClock();
  server = serveHttp({ address: '127.0.0.1', port: 0, metrics, notReady: () => undefined, clock });

  const pages = [];
  for (let count = 0; count < 3; count++) {
    pages.push(await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text());
  }

  expect(pages.map((page) => /^asked (\d+)$/m.exec(page)?.[1])).toEqual(['1', '2', '3']);
});
