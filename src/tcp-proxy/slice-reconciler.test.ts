import { expect, test } from 'bun:test';
import { ManualClock } from '../clock/manual-clock.ts';
import { createClient } from '../kube/client/fetch-client.ts';
import { RESOURCES } from '../kube/resource.ts';
import { TestAuthority } from '../net/testing/certificates.ts';
import { createLogger } from '../telemetry/log.ts';
import { SLICE_MANAGED_BY } from '../kube/endpoints/endpoint-slice.ts';
import { SliceReconciler } from './slice-reconciler.ts';
import { ROUND_MS, SERVICE, STEWARD_SLICE, Tenant } from './testing/tenant.ts';

const [A, B] = ['192.0.2.11', '192.0.2.12'] as const;
/** A proxy counts as dead after this time without a renewal. */
const LEASE_MS = 20_000;
/** The verbs that Steward's ClusterRole `steward:tcp-proxy` grants. */
const GRANTED: Readonly<Record<string, readonly string[]>> = {
  endpointslices: ['get', 'list', 'watch', 'create', 'update', 'patch'],
  services: ['get', 'list', 'watch'],
  leases: ['get', 'create', 'update'],
};

test('takes over the slice of steward-tcp-proxy, and removes the Service address from it', async () => {
  await using tenant = await Tenant.create();
  tenant.api.seed(STEWARD_SLICE);

  const { proxy } = await tenant.node({ address: A });

  expect(tenant.slice()).toMatchObject({
    metadata: {
      labels: {
        'kubernetes.io/service-name': 'kubernetes',
        'endpointslice.kubernetes.io/managed-by': 'tcp-proxy.snicket.dev',
      },
    },
    addressType: 'IPv4',
    ports: [{ name: 'https', port: proxy.ports[0]!, protocol: 'TCP' }],
    endpoints: [{ addresses: [A], conditions: { ready: true, serving: true, terminating: false } }],
  });
  expect(tenant.loggedLines('overwritten')).toEqual([]);
});

test('lists two nodes, and removes one after its Lease has expired', async () => {
  await using tenant = await Tenant.create();
  const flags = { listenAddr: '127.0.0.1:0' };
  const a = await tenant.node({ address: A, flags });
  const port = a.proxy.ports[0]!;
  const b = await tenant.node({ address: B, flags: { listenAddr: `127.0.0.2:${port}` } });
  await tenant.pass(LEASE_MS * 2);
  expect(tenant.addresses()).toEqual([A, B]);

  tenant.kill(b);
  await tenant.pass(LEASE_MS - ROUND_MS);
  expect(tenant.addresses()).toEqual([A, B]);
  await tenant.pass(ROUND_MS * 2);

  expect(tenant.addresses()).toEqual([A]);
  expect(tenant.loggedLines('removed endpoints without a live proxy')).toHaveLength(1);
});

test('does not write an unchanged slice', async () => {
  await using tenant = await Tenant.create();
  const a = await tenant.node({ address: A });
  await tenant.node({ address: B, flags: { listenAddr: `127.0.0.2:${a.proxy.ports[0]}` } });
  const version = tenant.slice()!.metadata.resourceVersion;

  await tenant.pass(60_000);

  expect(tenant.slice()?.metadata.resourceVersion).toBe(version);
});

test('lists ten proxies that join at the same time', async () => {
  await using tenant = await Tenant.create();
  const first = await tenant.start({ address: '192.0.2.1' });
  const port = first.proxy.ports[0];
  const others = Array.from({ length: 9 }, async (_, index) =>
    tenant.start({
      address: `192.0.2.${index + 2}`,
      flags: { listenAddr: `127.0.0.${index + 2}:${port}` },
    }),
  );
  const all = [first, ...(await Promise.all(others))];
  while (all.some(({ proxy }) => proxy.notReady() !== undefined)) await Bun.sleep(1);

  tenant.clock.advance(250);
  while (all.some(({ reconciler }) => reconciler.counts.reconciles === 0)) await Bun.sleep(1);
  await tenant.pass(ROUND_MS * 2);

  expect(tenant.addresses()).toHaveLength(10);
});

test('a proxy that stops removes its endpoint and releases its Lease immediately', async () => {
  await using tenant = await Tenant.create();
  const a = await tenant.node({ address: A });
  const b = await tenant.node({
    address: B,
    flags: { listenAddr: `127.0.0.2:${a.proxy.ports[0]}` },
  });

  await tenant.terminate(b);

  expect(tenant.addresses()).toEqual([A]);
  const key = { namespace: 'kube-system', name: `steward-tcp-proxy-${B}` };
  expect(tenant.api.read(RESOURCES.lease, key)).toMatchObject({ spec: { holderIdentity: '' } });
});

test('the last proxy that stops keeps its endpoint, and logs why', async () => {
  await using tenant = await Tenant.create();
  const a = await tenant.node({ address: A });
  const b = await tenant.node({
    address: B,
    flags: { listenAddr: `127.0.0.2:${a.proxy.ports[0]}` },
  });

  await Promise.all([tenant.terminate(a), tenant.terminate(b)]);

  expect(tenant.addresses()).toHaveLength(1);
  expect(tenant.loggedLines('LastEntry')).toHaveLength(1);
});

test('stops in time while the API does not answer, and logs that other proxies clean up', async () => {
  await using tenant = await Tenant.create();
  const a = await tenant.node({ address: A });
  const b = await tenant.node({
    address: B,
    flags: { listenAddr: `127.0.0.2:${a.proxy.ports[0]}` },
  });
  tenant.api.inject({ kind: 'hang' }, { verb: 'update', plural: 'endpointslices' });

  await b.leave(AbortSignal.timeout(200));
  tenant.kill(b);
  expect(tenant.addresses()).toEqual([A, B]);
  expect(tenant.loggedLines('cannot remove the endpoint; other proxies remove it')).toHaveLength(1);
  await tenant.pass(LEASE_MS + ROUND_MS);

  expect(tenant.addresses()).toEqual([A]);
});

test('a proxy that stops after its successor on the node has started keeps the endpoint', async () => {
  await using tenant = await Tenant.create();
  const a = await tenant.node({ address: A });
  const flags = { listenAddr: `127.0.0.2:${a.proxy.ports[0]}` };
  const old = await tenant.node({ address: B, flags });
  await tenant.node({ address: B, flags });

  await tenant.terminate(old);

  expect(tenant.addresses()).toEqual([A, B]);
  expect(tenant.loggedLines('the next proxy of this node has taken over')).toHaveLength(1);
});

test('a restart changes nothing in the slice', async () => {
  await using tenant = await Tenant.create();
  const a = await tenant.node({ address: A });
  const port = a.proxy.ports[0]!;
  const b = await tenant.node({ address: B, flags: { listenAddr: `127.0.0.2:${port}` } });
  const version = tenant.slice()!.metadata.resourceVersion;

  tenant.kill(b);
  await tenant.pass(ROUND_MS);
  await tenant.node({ address: B, flags: { listenAddr: `127.0.0.2:${port}` } });
  await tenant.pass(LEASE_MS * 2);

  expect(tenant.slice()?.metadata.resourceVersion).toBe(version);
});

test('keeps the slice and all endpoints during an outage of the API server', async () => {
  await using tenant = await Tenant.create();
  const a = await tenant.node({ address: A });
  await tenant.node({ address: B, flags: { listenAddr: `127.0.0.2:${a.proxy.ports[0]}` } });
  const version = tenant.slice()!.metadata.resourceVersion;

  await tenant.pass(ROUND_MS); // each proxy has observed the other
  await tenant.api.goDown();
  await tenant.pass(LEASE_MS * 3);
  await tenant.api.comeUp();
  // One proxy recovers later than the other, and must not count as dead.
  const late = { verb: 'update', plural: 'leases', name: `steward-tcp-proxy-${B}` };
  tenant.api.inject({ kind: 'error', status: 500, reason: 'InternalError' }, late, 2);
  await tenant.pass(LEASE_MS * 2);

  expect(tenant.slice()?.metadata.resourceVersion).toBe(version);
  expect(
    tenant.loggedLines('Unreachable: EndpointSlice default/kubernetes stays unchanged'),
  ).toHaveLength(2);
  expect(tenant.loggedLines('can be reconciled again')).toHaveLength(2);
});

test('keeps the slice unchanged if the API server refuses Leases', async () => {
  await using tenant = await Tenant.create();
  tenant.api.seed(STEWARD_SLICE);
  tenant.api.inject(
    ...[{ kind: 'error', status: 403, reason: 'Forbidden' } as const, { plural: 'leases' }, 100],
  );

  await tenant.node({ address: A });

  expect(tenant.addresses()).toEqual(['10.96.7.7']);
  expect(
    tenant.loggedLines('Forbidden: EndpointSlice default/kubernetes stays unchanged'),
  ).toHaveLength(1);
});

test('restores the slice after another writer, and logs the writer at most once a minute', async () => {
  await using tenant = await Tenant.create();
  const { proxy, reconciler } = await tenant.node({ address: A });
  const change = { endpoints: [{ addresses: ['198.51.100.1'] }] };

  await tenant.overwrite('kube-apiserver', change);
  await tenant.pass(ROUND_MS);
  const once = tenant.addresses();
  await tenant.overwrite('kube-apiserver', change);
  await tenant.pass(ROUND_MS);

  expect(once).toEqual([A]);
  expect(tenant.addresses()).toEqual([A]);
  expect(tenant.loggedLines('OtherWriter: kube-apiserver overwrote EndpointSlice')).toHaveLength(1);
  expect(reconciler.counts.overwrites).toBe(2);
  expect(proxy.metrics.text()).toContain('\nsnicket_tcp_proxy_endpointslice_overwrites_total 2\n');
});

test("does not change the EndpointSlice of Snicket's operator, and logs the reason", async () => {
  await using tenant = await Tenant.create();
  const { reconciler } = await tenant.node({ address: A });
  const endpoints = [{ addresses: ['100.64.64.1'] }];
  const labels = { ...STEWARD_SLICE.metadata.labels, ...SLICE_MANAGED_BY };
  await tenant.overwrite('snicket', {
    endpoints,
    metadata: { ...tenant.slice()!.metadata, labels },
  });

  await tenant.pass(LEASE_MS);

  expect(tenant.addresses()).toEqual(['100.64.64.1']);
  expect(tenant.loggedLines('remove addons.tcpProxy from the TenantControlPlane')).toHaveLength(1);
  expect(reconciler.isJoined).toBe(false);
});

test('recreates a deleted slice', async () => {
  await using tenant = await Tenant.create();
  await tenant.node({ address: A });
  const client = createClient(tenant.api.access);

  await client.delete(RESOURCES.endpointSlice, { namespace: 'default', name: 'kubernetes' });
  await tenant.pass(ROUND_MS);

  expect(tenant.addresses()).toEqual([A]);
});

test("requires only the permissions of Steward's role", async () => {
  await using tenant = await Tenant.create();
  const a = await tenant.node({ address: A });
  const b = await tenant.node({
    address: B,
    flags: { listenAddr: `127.0.0.2:${a.proxy.ports[0]}` },
  });
  await tenant.pass(ROUND_MS);
  await tenant.terminate(b);
  await tenant.terminate(a);

  const denied = tenant.api
    .requests()
    .filter(({ plural, verb }) => !(GRANTED[plural] ?? []).includes(verb));

  expect(denied).toEqual([]);
  expect(tenant.api.writes().every(({ manager }) => manager === 'snicket-tcp-proxy')).toBe(true);
});

test("Leases are garbage-collected with Steward's Service", async () => {
  await using tenant = await Tenant.create();
  const a = await tenant.node({ address: 'FD00:0::' });
  const key = { namespace: 'kube-system', name: 'steward-tcp-proxy-fd00--0' };
  expect(tenant.api.read(RESOURCES.lease, key)).toBeDefined();
  expect(tenant.slice()).toMatchObject({
    addressType: 'IPv6',
    endpoints: [{ addresses: ['fd00::'] }],
  });

  tenant.kill(a);
  await createClient(tenant.api.access).delete(RESOURCES.service, SERVICE.metadata);
  tenant.api.collectGarbage();

  expect(tenant.api.read(RESOURCES.lease, key)).toBeUndefined();
});

test('a node without POD_IP whose source address is unusable does not join, and logs it', async () => {
  await using tenant = await Tenant.create();

  await tenant.node({ address: undefined });

  expect(tenant.slice()).toBeUndefined();
  expect(
    tenant.loggedLines('127.0.0.1 is reached from 127.0.0.1, which is a loopback address'),
  ).toHaveLength(1);
});

test('reloads a replaced CA', async () => {
  await using tenant = await Tenant.create();
  const old = await TestAuthority.create();
  const clock = new ManualClock();
  let ca = old.cert;
  const reconciler = new SliceReconciler({
    connect: () => createClient({ ...tenant.api.access, ca }),
    address: async () => A,
    port: 6443,
    serviceName: 'steward-tcp-proxy',
    identity: 'a',
    intervalMs: ROUND_MS,
    clock,
    isReady: () => true,
    log: createLogger({ write: (line) => tenant.lines.push(line) }),
  });
  const ended = new AbortController();
  const running = reconciler.run(ended.signal);
  ca = tenant.authority.cert;

  while (!reconciler.isJoined) {
    clock.advance(ROUND_MS);
    await Bun.sleep(1);
  }
  ended.abort();
  await running;

  expect(
    tenant.loggedLines('Untrusted: EndpointSlice default/kubernetes stays unchanged'),
  ).toHaveLength(1);
  expect(tenant.addresses()).toEqual([A]);
});
