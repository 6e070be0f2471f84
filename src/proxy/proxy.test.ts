import { expect, test } from 'bun:test';
import { freePort } from '../net/testing/free-port.ts';
import { Peer, until } from '../net/testing/peer.ts';
import { HOST, Lab } from './testing/lab.ts';
import { Pod } from './testing/pod.ts';
import { PROXY_REASON_CODES } from './reasons.ts';

const HTTP = [{ address: '127.0.0.1', port: 0 }];

async function page(port: number | undefined, path: string) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return { status: response.status, text: (await response.text()).trim() };
}

test('is alive on start, and ready after a handshake with the edge', async () => {
  await using lab = await Lab.create();
  const port = freePort();
  const proxy = await lab.proxy({ edgePort: port, http: HTTP });
  await until(() => proxy.notReady()?.startsWith('dial_refused') === true, 'the first probe');

  expect(await page(proxy.httpPorts[0], '/healthz')).toEqual({ status: 200, text: 'ok' });
  const { status, text } = await page(proxy.httpPorts[0], '/readyz');
  expect(status).toBe(503);
  expect(text).toStartWith(
    `dial_refused: edge 127.0.0.1:${port}, name ${HOST}: the endpoint refused the connection`,
  );

  await lab.apiServer({ port });
  lab.clock.advance(2000);
  await until(() => proxy.notReady() === undefined, 'readiness');
  expect(await page(proxy.httpPorts[0], '/readyz')).toEqual({ status: 200, text: 'ready' });
});

test('starts, but is not ready while the name of the edge cannot be resolved', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  let isKnown = false;
  const lookup = async () => {
    if (!isKnown) throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' });
    return ['127.0.0.1'];
  };
  const proxy = await lab.proxy({ edgeHost: 'edge.test', edgePort: api.port, lookup });
  await until(() => proxy.notReady()?.includes('cannot be resolved') === true, 'the reason');
  expect((await Pod.refused(proxy.ports[0]!)).code).toBe('ECONNRESET');

  isKnown = true;
  await until(() => {
    lab.clock.advance(1000);
    return proxy.notReady() === undefined;
  }, 'readiness');

  using pod = await Pod.dial(proxy.ports[0]!, { ca: lab.authority.cert });
  expect(await pod.echo('late')).toBe('late');
});

test('uses the new address when the edge has moved', async () => {
  await using lab = await Lab.create();
  const old = await lab.apiServer({ address: '127.0.0.2', port: freePort() });
  let address = '127.0.0.2';
  const lookup = async () => [address];
  const proxy = await lab.proxy({ edgeHost: 'edge.test', edgePort: old.port, lookup });
  await until(() => proxy.notReady() === undefined, 'readiness');

  address = '127.0.0.3';
  await lab.apiServer({ address, port: old.port });
  await old[Symbol.asyncDispose]();
  expect((await Pod.refused(proxy.ports[0]!)).code).toBe('ECONNRESET');
  lab.clock.advance(2500);
  await until(() => lab.lines.some((line) => line.includes('127.0.0.3')), 'the new address');

  using pod = await Pod.dial(proxy.ports[0]!, { ca: lab.authority.cert });
  expect(await pod.echo('moved')).toBe('moved');
});

test('drains: is not ready, accepts during the grace period, then closes connections one by one', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const proxy = await lab.proxy({ edgePort: api.port });
  await until(() => proxy.notReady() === undefined, 'readiness');
  const port = proxy.ports[0]!;
  const options = { ca: lab.authority.cert };
  const pods = await Promise.all(Array.from({ length: 20 }, async () => Pod.dial(port, options)));
  const closed = () => pods.filter((pod) => pod.isClosed).length;

  const drained = proxy.drain(4000, 4000);
  expect(proxy.notReady()).toBe('draining: the proxy is shutting down');
  lab.clock.advance(3950);
  using late = await Pod.dial(port, options);
  expect(await late.echo('in the grace')).toBe('in the grace');
  expect(closed()).toBe(0);
  lab.clock.advance(2050);
  await until(() => closed() === 11, 'half of the connections to be closed');
  expect(await late.echo('after the grace')).toBe('after the grace');
  lab.clock.advance(2000);
  await until(() => proxy.counters.global('open') === 0, 'all connections to be closed');
  lab.clock.advance(50);
  await drained;

  expect(pods.every((pod) => pod.error === undefined)).toBe(true);
  expect(proxy.counters.failures()).toEqual({ drained: 21 });
  expect((await Pod.refused(port)).code).toBe('ECONNREFUSED');
});

test('exposes counters and the expiry of its certificate as metrics', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const proxy = await lab.proxy({ edgePort: api.port, http: HTTP });
  await until(() => proxy.notReady() === undefined, 'readiness');
  using pod = await Pod.dial(proxy.ports[0]!, { ca: lab.authority.cert });
  await pod.echo('12345');

  const { text } = await page(proxy.httpPorts[0], '/metrics');

  const lines = [
    'snicket_proxy_info{mode="terminate",engine="bun"} 1',
    'snicket_proxy_connections_open 1',
    'snicket_proxy_connections_accepted_total 1',
    'snicket_proxy_received_bytes_total 5',
    'snicket_proxy_sent_bytes_total 5',
    'snicket_proxy_dial_duration_seconds_count 1',
    'snicket_proxy_edge_up 1',
    'snicket_proxy_failures_total{reason="edge_down"} 0',
    'snicket_proxy_edge_addresses 1',
    'snicket_proxy_edge_probes_total{result="success"} 1',
    'snicket_proxy_last_reload_successful{file="ca"} 1',
    'snicket_proxy_last_reload_successful{file="cert"} 1',
  ];
  for (const line of lines) expect(text).toContain(`${line}\n`);
  const notAfter = /certificate_expiry_timestamp_seconds (\d+)/.exec(text)?.[1];
  expect(Number(notAfter)).toBeGreaterThan(Date.now() / 1000 + 300 * 24 * 3600);
});

test('fails with the unavailable address and a fix, and closes the other listeners', async () => {
  await using lab = await Lab.create();
  using taken = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } });
  const listen = [{ address: '127.0.0.1', port: freePort() }];
  const start = async (http: { address: string; port: number }) =>
    lab.proxy({ edgePort: 1, listen, http: [http] });

  await expect(start({ address: '127.0.0.1', port: taken.port })).rejects.toThrow(
    `cannot listen on 127.0.0.1:${taken.port} (EADDRINUSE); another program has that port`,
  );
  await expect(start({ address: '203.0.113.1', port: 0 })).rejects.toThrow(
    'cannot listen on 203.0.113.1:0 (EADDRNOTAVAIL); this machine has no such address: give it one (`ip address add 203.0.113.1/32 ',
  );
  await expect(Peer.dial(listen[0]!.port)).rejects.toThrow();
});

test('two proxies can share ports, so that the next version starts before the previous one stops', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const first = await lab.proxy({ edgePort: api.port });
  const listen = [{ address: '127.0.0.1', port: freePort() }];
  const http = [{ address: '127.0.0.1', port: freePort() }];
  const second = await lab.proxy({ edgePort: api.port, listen, http });
  const third = await lab.proxy({ edgePort: api.port, listen, http });

  second.stop();
  using pod = await Pod.dial(third.ports[0]!, { ca: lab.authority.cert });

  expect(await pod.echo('third')).toBe('third');
  expect((await page(http[0]!.port, '/healthz')).status).toBe(200);
  expect(first.ports).not.toEqual(third.ports);
});

test('the documentation explains every metric and every reason', async () => {
  await using lab = await Lab.create();
  const api = await lab.apiServer();
  const proxy = await lab.proxy({ edgePort: api.port });
  const docs = await Bun.file(
    new URL('../../docs/reference/proxy-metrics.md', import.meta.url),
  ).text();

  const names = [...proxy.metrics.text().matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!);
  const unexplained = [...names, ...PROXY_REASON_CODES].filter((name) => !docs.includes(name));

  expect(names.length).toBeGreaterThan(10);
  expect(unexplained).toEqual([]);
});
