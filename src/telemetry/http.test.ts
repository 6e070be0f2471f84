import { afterEach, expect, test } from 'bun:test';
import { serveHttp, type HttpServer } from './http.ts';
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

test('is alive', async () => {
  const get = serve();

  expect((await get('/healthz')).status).toBe(200);
});

test('is ready or says why not', async () => {
  const get = serve();
  const ready = await get('/readyz');
  reason = 'the routes file is missing';
  const unready = await get('/readyz');

  expect(ready.status).toBe(200);
  expect(unready.status).toBe(503);
  expect(await unready.text()).toBe('the routes file is missing\n');
});

test('shows the metrics, its own process among them', async () => {
  const get = serve('::1');

  const answer = await get('/metrics');
  const page = await answer.text();

  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(page).toContain('\nn 4\n');
  expect(page).toMatch(/^process_resident_memory_bytes \d{7,}$/m);
  expect(page).toMatch(/^process_open_fds [1-9]\d*$/m);
  expect(page).toMatch(/^snicket_build_info\{version="[^"]+",bun="[^"]+"\} 1$/m);
});

test('shows the same metrics on both families of one port', () => {
  const metrics = new Metrics();
  const ipv4 = serveHttp({ address: '0.0.0.0', port: 0, metrics, notReady: () => undefined });
  server = serveHttp({ address: '::', port: ipv4.port, metrics, notReady: () => undefined });

  expect(server.port).toBe(ipv4.port);
  ipv4.stop();
});

test('knows no other path and no other method', async () => {
  const get = serve();

  const elsewhere = await get('/nowhere');
  const posted = await get('/healthz', { method: 'POST' });

  expect(elsewhere.status).toBe(404);
  expect(await elsewhere.text()).toContain('/readyz');
  expect(posted.status).toBe(405);
  expect(posted.headers.get('allow')).toBe('GET, HEAD');
  expect((await get('/healthz', { method: 'HEAD' })).status).toBe(200);
});
