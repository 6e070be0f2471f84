import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { systemClock } from '../../clock/clock.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { MemoryApiServer } from '../../kube/testing/memory/memory-api-server.ts';
import { KUBERNETES } from '../../tenant/endpoints/kubernetes-endpoints.ts';
import type { ProxyPod } from '../../probe/hops/proxies.ts';
import { objectOf } from '../../operator/testing/objects.ts';
import { readTenantFacts, TenantNotInitialized, tenantNodes } from './tenant-facts.ts';
import { TenantLink } from './link/tenant-link.ts';
import type { Node } from './link/tenant-view.ts';

setDefaultTimeout(240_000);

/** A connection to the tenant, closed when the server is. */
function linkTo(server: MemoryApiServer): TenantLink {
  const link = new TenantLink({
    client: server.client(),
    watchesNodes: false,
    freshMs: 0,
    onChange: () => {},
    clock: systemClock,
    random: Math.random,
  });
  link.open();
  return link;
}

function node(name: string, ...addresses: readonly string[]): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    status: { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) },
  };
}

function pod(nodeName: string, ready: boolean, rest: object = {}): ProxyPod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    spec: { nodeName },
    metadata: { name: `proxy-${nodeName}`, ...rest },
    status: { containerStatuses: [{ name: 'proxy', ready }] },
  };
}

describe('nodes', () => {
  test('are sorted by name, with one address of each family', () => {
    const nodes = [
      node('b', '10.0.0.2', '10.0.0.3', 'fd00::2'),
      node('a'),
      node('c', 'no address'),
    ];

    expect(tenantNodes(nodes, [])).toEqual([
      { name: 'a', addresses: [], ready: false },
      { name: 'b', addresses: ['10.0.0.2', 'fd00::2'], ready: false },
      { name: 'c', addresses: [], ready: false },
    ]);
  });

  test('are ready if the containers of their proxy are, and it is not being deleted', () => {
    const nodes = ['ready', 'starting', 'ending', 'bare'].map((name) => node(name));
    const pods = [
      pod('ready', true),
      pod('starting', false),
      pod('ending', true, { deletionTimestamp: '2026-11-01T00:00:00Z' }),
      { ...pod('bare', true), status: { containerStatuses: [] } },
    ];

    const ready = tenantNodes(nodes, pods).filter(({ ready: isReady }) => isReady);

    expect(ready.map(({ name }) => name)).toEqual(['ready']);
  });

  test('with two pods, as during a rollout, are ready if one of them is', () => {
    expect(tenantNodes([node('a')], [pod('a', false), pod('a', true)])).toMatchObject([
      { ready: true },
    ]);
  });
});

describe('the facts of a tenant', () => {
  const service = objectOf('Service', KUBERNETES, {
    spec: { clusterIPs: ['10.96.0.1', 'fd00::1'] },
  });
  const config = (text: string) =>
    objectOf(
      'ConfigMap',
      { name: 'kubeadm-config', namespace: 'kube-system' },
      { data: { ClusterConfiguration: text } },
    );
  const options = () => ({ signal: AbortSignal.timeout(200_000) });

  test('include its version, its addresses, and the default domain', async () => {
    await using server = await MemoryApiServer.start();
    server.seed(service);
    const view = linkTo(server);

    const facts = await readTenantFacts(view, options());

    expect(facts).toEqual({
      version: 'v1.36.3',
      serviceAddresses: ['10.96.0.1', 'fd00::1'],
      clusterDomain: 'cluster.local',
      nodes: [],
    });
  });

  test.each([
    ['networking:\n  dnsDomain: tenant.test\n  podSubnet: 10.0.0.0/16\n', 'tenant.test'],
    ['networking:\n  dnsDomain: "tenant.test"\n', 'tenant.test'],
    ['kind: ClusterConfiguration\n', 'cluster.local'],
    ['dnsDomainOfSomethingElse: a.test\n', 'cluster.local'],
  ])('says its domain as kubeadm wrote it: %j', async (text, domain) => {
    await using server = await MemoryApiServer.start();
    server.seed(service, config(text));
    const view = linkTo(server);

    expect(await readTenantFacts(view, options())).toMatchObject({ clusterDomain: domain });
    const said = { ...options(), clusterDomain: 'said.test' };
    expect(await readTenantFacts(view, said)).toMatchObject({ clusterDomain: 'said.test' });
  });

  test('do not need permission to read the ConfigMap of kubeadm', async () => {
    await using server = await MemoryApiServer.start();
    server.seed(service, config('dnsDomain: hidden.test\n'));
    const refusal = { kind: 'error', status: 403, reason: 'Forbidden' } as const;
    server.inject(refusal, { plural: RESOURCES.configMap.plural });
    const view = linkTo(server);

    expect(await readTenantFacts(view, options())).toMatchObject({
      clusterDomain: 'cluster.local',
    });
  });

  test('are not available before the API server has created its Service', async () => {
    await using server = await MemoryApiServer.start();
    const view = linkTo(server);

    expect(readTenantFacts(view, options())).rejects.toThrow(TenantNotInitialized);
  });
});
