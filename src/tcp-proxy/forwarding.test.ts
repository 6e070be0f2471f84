import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../net/testing/peer.ts';
import { ApiServer } from '../proxy/testing/api-server.ts';
import { TestAuthority } from '../net/testing/certificates.ts';
import { Pod } from '../proxy/testing/pod.ts';
import { HOST, Tenant } from './testing/tenant.ts';

test('forwards a pod to the upstream with its server name, and lists its address in the slice', async () => {
  await using tenant = await Tenant.create();
  const { proxy } = await tenant.node({ address: '192.0.2.11' });

  using pod = await Pod.dial(proxy.ports[0]!, { ca: tenant.authority.cert, ALPNProtocols: ['h2'] });

  expect(await pod.echo('hello')).toBe('hello');
  expect(pod.tls.alpnProtocol).toBe('h2');
  expect(new Set(tenant.edge.serverNames)).toEqual(new Set([HOST]));
  expect(tenant.slice()?.ports).toEqual([
    { name: 'https', port: proxy.ports[0]!, protocol: 'TCP' },
  ]);
  expect(tenant.addresses()).toEqual(['192.0.2.11']);
});

test('forwards TLS with client certificates unchanged if it has no serving certificate', async () => {
  await using tenant = await Tenant.create();
  const flags = { tlsCertFile: '', tlsKeyFile: '', upstreamSni: '' };
  const { proxy } = await tenant.node({ address: '192.0.2.11', flags });
  const client = await tenant.authority.issue({ commonName: 'kubelet' });

  using pod = await Pod.dial(proxy.ports[0]!, { ca: tenant.authority.cert, ...client });

  expect(await pod.echo('hello')).toBe('hello');
  expect(tenant.edge.clients).toEqual(['kubelet']);
  expect(tenant.loggedLines('--upstream-insecure')).toEqual([]);
});

test('sends no byte of a pod to an upstream of another CA, even with --upstream-insecure', async () => {
  await using tenant = await Tenant.create();
  const forged = await (await TestAuthority.create()).issue({ names: [HOST] });
  await using impostor = await ApiServer.start({ serving: forged });

  const flags = { upstreamInsecure: true };
  const { proxy, reconciler } = await tenant.start({
    address: '192.0.2.11',
    edgePort: impostor.port,
    flags,
  });
  const refusal = await Pod.refused(proxy.ports[0]!);
  await until(() => proxy.notReady()?.startsWith('edge_untrusted') === true, 'the first probe');
  tenant.clock.advance(60_000);

  expect(refusal).toEqual({ code: 'ECONNRESET', sawHandshake: false });
  expect(impostor.received).toBe(0);
  expect(tenant.loggedLines('--upstream-insecure is ignored')).toHaveLength(1);
  expect(reconciler.isJoined).toBe(false);
  expect(tenant.api.requests()).toEqual([]);
});

test('rejects an upstream whose certificate has another name', async () => {
  await using tenant = await Tenant.create();
  const other = await tenant.authority.issue({ names: ['blue.k8s.test'] });
  await using neighbor = await ApiServer.start({ serving: other });

  const { proxy } = await tenant.start({ address: '192.0.2.11', edgePort: neighbor.port });
  const refusal = await Pod.refused(proxy.ports[0]!);

  expect(refusal).toEqual({ code: 'ECONNRESET', sawHandshake: false });
  expect(neighbor.received).toBe(0);
});

test('exposes metrics about the slice', async () => {
  await using tenant = await Tenant.create();
  const { proxy } = await tenant.node({ address: '192.0.2.11' });

  expect(proxy.metrics.text()).toContain('\nsnicket_tcp_proxy_endpointslice_joined 1\n');
  expect(proxy.metrics.text()).toContain('\nsnicket_tcp_proxy_endpointslice_endpoints 1\n');
  expect(proxy.metrics.text()).toContain('\nsnicket_tcp_proxy_reconciles_total 1\n');

  await tenant.api.goDown();
  await tenant.pass(5000);

  expect(proxy.metrics.text()).toContain('\nsnicket_tcp_proxy_endpointslice_joined 0\n');
  expect(proxy.metrics.text()).toContain('\nsnicket_tcp_proxy_reconcile_errors_total 1\n');
  await tenant.api.comeUp();
});

test('docs/reference/tcp-proxy.md lists exactly the metrics of the TCP proxy', async () => {
  await using tenant = await Tenant.create();
  const { proxy } = await tenant.node({ address: '192.0.2.11' });
  const docs = readFileSync(join(import.meta.dir, '../../docs/reference/tcp-proxy.md'), 'utf8');

  const names = (text: string): Set<string> => new Set(text.match(/snicket_tcp_proxy_\w+/g));

  expect(names(docs)).toEqual(names(proxy.metrics.text()));
});
