import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Edge } from '../../api/edge.ts';
import { RESOURCES } from '../../kube/resource.ts';
import type { Endpoint } from '../../kube/endpoints/endpoint-slice.ts';
import { KUBERNETES } from '../../tenant/endpoints/kubernetes-endpoints.ts';
import type { DaemonSet } from '../../tenant/pod.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import type { LabTenant } from '../testing/lab-tenant.ts';
import { LAB_EDGES } from '../testing/edges.ts';
import { SYSTEM_NAMESPACE, TENANTS } from '../testing/namespaces.ts';
import { objectOf } from '../testing/objects.ts';
import { OperatorLab } from '../testing/operator-lab.ts';

setDefaultTimeout(240_000);

const [OLD, NEW] = ['100.64.64.1', '100.64.64.2'];

/** The addresses that the tenant's Service leads to, those that are not ready in brackets. */
function ledTo({ server }: LabTenant): readonly string[] {
  const slice = server.read(RESOURCES.endpointSlice, KUBERNETES) as
    | { endpoints?: readonly Endpoint[] }
    | undefined;
  return (slice?.endpoints ?? []).flatMap(({ addresses, conditions }) =>
    addresses.map((address) => (conditions?.ready === false ? `(${address})` : address)),
  );
}

/** What the proxies' pods are started with, line by line. */
function commands({ server }: LabTenant): readonly string[] {
  const { spec } = server.read(RESOURCES.daemonSet, PROXY) as unknown as DaemonSet;
  const { initContainers = [], containers } = spec.template.spec;
  const listens = containers.flatMap(({ args }) =>
    args.filter((flag) => flag.startsWith('--listen')),
  );
  return [...initContainers.map(({ args }) => args.join(' ')), ...listens];
}

async function untilLedTo(
  lab: OperatorLab,
  tenant: LabTenant,
  ...addresses: readonly string[]
): Promise<void> {
  const wanted = JSON.stringify(addresses);
  await lab.until(`it leads to ${wanted}`, () => JSON.stringify(ledTo(tenant)) === wanted);
}

async function untilCommands(
  lab: OperatorLab,
  tenant: LabTenant,
  ...lines: readonly string[]
): Promise<void> {
  const wanted = JSON.stringify(lines);
  await lab.until(wanted, () => JSON.stringify(commands(tenant)) === wanted);
}

describe.concurrent('proxies at the addresses of their nodes', () => {
  test('endpoints follow the nodes, and are never an empty list', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addTenant('blue');
    const { controllers, server } = tenant;
    await controllers.addNode('worker-1', ['10.0.0.1']);
    await lab.expose('blue', { worker: { address: 'Node' } });
    await untilLedTo(lab, tenant, '10.0.0.1');
    const slice = server.read(RESOURCES.endpointSlice, KUBERNETES);
    expect(slice).toMatchObject({
      endpoints: [{ nodeName: 'worker-1', hints: { forNodes: [{ name: 'worker-1' }] } }],
    });

    await controllers.addNode('worker-2', ['10.0.0.2', 'fd00::2'], false);
    await untilLedTo(lab, tenant, '10.0.0.1', '(10.0.0.2)');

    controllers.setReady('worker-2', true);
    await untilLedTo(lab, tenant, '10.0.0.1', '10.0.0.2');

    await controllers.removeNode('worker-1');
    await untilLedTo(lab, tenant, '10.0.0.2');

    const before = lab.number('reconciles_total', 'controller="exposure"');
    await controllers.removeNode('worker-2');
    await lab.until('it was seen', () => {
      const runs = lab.number('reconciles_total', 'controller="exposure"');
      return runs > before && lab.statusOf('blue')?.proxies?.desired === 0;
    });
    expect(ledTo(tenant)).toEqual(['10.0.0.2']);
    expect(server.read(RESOURCES.endpoints, KUBERNETES)).toMatchObject({
      subsets: [{ addresses: [{ ip: '10.0.0.2' }] }],
    });
  });

  test('a node without an address is no endpoint', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addTenant('blue');
    await tenant.controllers.addNode('new', []);
    await tenant.controllers.addNode('worker-1', ['10.0.0.1']);

    await lab.expose('blue', { worker: { address: 'Node' } });

    await untilLedTo(lab, tenant, '10.0.0.1');
  });
});

describe.concurrent('a change of address', () => {
  test('from one virtual address to another has no gap, and removes the previous address from the nodes', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addExposed('blue');
    const { controllers } = tenant;
    await controllers.addNode('worker-1', ['10.0.0.1']);
    await untilCommands(lab, tenant, `address add ${OLD}`, `--listen=${OLD}:7443`);
    await lab.untilCondition('blue', 'WorkersReady', /^True ProxiesReady/);
    controllers.pause();

    await lab.expose('blue', { worker: { virtualAddresses: [NEW] } });

    // 1. Nodes get the new address, and keep the old one as long as pods are led to it.
    const both = [`--listen=${NEW}:7443`, `--listen=${OLD}:7443`];
    await untilCommands(lab, tenant, `address add ${NEW} ${OLD}`, ...both);
    await lab.untilCondition('blue', 'WorkersReady', /^False ProxiesNotObserved/);
    expect(ledTo(tenant)).toEqual([OLD]);

    // 2. All nodes have both: pods are led to the new one, and the old one goes.
    controllers.resume();
    await untilLedTo(lab, tenant, NEW);
    await untilCommands(
      lab,
      ...[tenant, `address add ${NEW}`, `address remove ${OLD}`, `--listen=${NEW}:7443`],
    );
    await lab.untilCondition('blue', 'WorkersReady', /^True/);

    // 3. Back again: what was taken off is put on.
    await lab.expose('blue', {});
    await untilLedTo(lab, tenant, OLD);
    await untilCommands(
      lab,
      ...[tenant, `address add ${OLD}`, `address remove ${NEW}`, `--listen=${OLD}:7443`],
    );
    await lab.untilCondition('blue', 'WorkersReady', /^True/);
  });

  test('from the virtual address to the addresses of the nodes, and back', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addExposed('blue');
    const { controllers } = tenant;
    await controllers.addNode('worker-1', ['10.0.0.1']);
    await lab.untilCondition('blue', 'WorkersReady', /^True ProxiesReady/);
    controllers.pause();

    await lab.expose('blue', { worker: { address: 'Node' } });

    await untilCommands(lab, tenant, `address add ${OLD}`, '--listen=:7443');
    expect(ledTo(tenant)).toEqual([OLD]);
    await lab.untilCondition('blue', 'WorkersReady', /^False ProxiesNotObserved/);

    controllers.resume();
    // Not before the last step.
    await lab.untilCondition('blue', 'WorkersReady', /^True ProxiesReady/);
    expect(ledTo(tenant)).toEqual(['10.0.0.1']);
    expect(commands(tenant)).toEqual([`address remove ${OLD}`, '--listen=:7443']);
    controllers.pause();

    await lab.expose('blue', { worker: {} });

    await untilCommands(lab, tenant, `address add ${OLD}`, '--listen=:7443');
    expect(ledTo(tenant)).toEqual(['10.0.0.1']);

    controllers.resume();
    await untilLedTo(lab, tenant, OLD);
    await untilCommands(lab, tenant, `address add ${OLD}`, `--listen=${OLD}:7443`);
  });

  test('an Exposure that is deleted in between removes both addresses', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addExposed('blue');
    const { controllers } = tenant;
    await controllers.addNode('worker-1', ['10.0.0.1']);
    await lab.untilCondition('blue', 'WorkersReady', /^True ProxiesReady/);
    controllers.pause();
    await lab.expose('blue', { worker: { virtualAddresses: [NEW] } });
    await lab.until('both are carried', () => commands(tenant)[0] === `address add ${NEW} ${OLD}`);

    await lab.unexpose('blue');

    const args = () => {
      const proxies = tenant.server.read(RESOURCES.daemonSet, PROXY) as unknown as DaemonSet;
      return proxies.spec.template.spec.containers[0]?.args ?? [];
    };
    await lab.until('they leave', () => args().includes('remove'));
    expect(args()).toContain(OLD);
    expect(args()).toContain(NEW);
  });

  test('endpoints that another client changes are no change of address', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addExposed('blue');
    const before = commands(tenant);
    const { generation } = tenant.server.read(RESOURCES.daemonSet, PROXY)!.metadata;

    const endpoints = [{ addresses: ['192.0.2.1'] }];
    await tenant.user.patch(RESOURCES.endpointSlice, KUBERNETES, 'merge', { endpoints });

    await untilLedTo(lab, tenant, OLD);
    expect(commands(tenant)).toEqual(before);
    expect(tenant.server.read(RESOURCES.daemonSet, PROXY)!.metadata.generation).toBe(generation);
  });
});

describe.concurrent('the addresses of the edge', () => {
  /** The file that the proxies of a tenant follow. */
  const edgeFile = ({ server }: LabTenant) =>
    (server.read(RESOURCES.configMap, PROXY) as { data?: Record<string, string> } | undefined)
      ?.data?.['edge'];
  const gateway = { name: 'snicket-gateway', namespace: SYSTEM_NAMESPACE };
  const address = (...ips: readonly string[]) => ({
    loadBalancer: { ingress: ips.map((ip) => ({ ip })) },
  });
  const reasonOf = (lab: OperatorLab) => {
    const found = lab.management.read(RESOURCES.edge, { name: 'shared' }) as Partial<Edge>;
    return found.status?.conditions?.find(({ type }) => type === 'Ready')?.reason;
  };
  /** Sets the addresses that the load balancer of the gateway reports. */
  const report = async (lab: OperatorLab, ...ips: readonly string[]) => {
    const at = { subresource: 'status' } as const;
    const status = address(...ips);
    await lab.user.patch(RESOURCES.service, gateway, 'merge', { status }, at);
  };
  /** A lab in which the load balancer reports an address, which the proxies use. */
  const reportingLab = async () => {
    const lab = await OperatorLab.start({ edge: { addresses: undefined }, resyncMs: 3_600_000 });
    await lab.user.create(RESOURCES.service, objectOf('Service', gateway, { spec: {} }));
    await report(lab, '203.0.113.10');
    const tenant = await lab.addExposed('blue');
    await lab.until('the address', () => edgeFile(tenant) === '203.0.113.10:443\n');
    return { lab, tenant };
  };
  const daemonSet = ({ server }: LabTenant) => server.read(RESOURCES.daemonSet, PROXY);

  test('change in a ConfigMap, and no pod restarts', async () => {
    await using lab = await OperatorLab.start();
    const tenant = await lab.addExposed('blue');
    expect(edgeFile(tenant)).toBe('127.0.0.1:443\n');
    const before = daemonSet(tenant);

    await lab.applyEdge({ addresses: ['203.0.113.20', '203.0.113.10'], port: 8443 });

    await lab.until('the new addresses', () => edgeFile(tenant)?.includes('203.0.113.20'));
    expect(edgeFile(tenant)).toBe('203.0.113.10:8443\n203.0.113.20:8443\n');
    await lab.untilReconciled(3);
    expect(daemonSet(tenant)?.metadata.generation).toBe(before?.metadata.generation);
    expect(JSON.stringify(daemonSet(tenant))).not.toContain('203.0.113.');
  });

  test('are restored when a user changes them', async () => {
    await using lab = await OperatorLab.start({ resyncMs: 1_000 });
    const tenant = await lab.addExposed('blue');

    const user = tenant.server.client({ fieldManager: 'user' });
    await user.patch(RESOURCES.configMap, PROXY, 'merge', { data: { edge: '192.0.2.1:443\n' } });

    await lab.until('they are back', () => edgeFile(tenant) === '127.0.0.1:443\n');
  });

  test('follow the addresses that the load balancer reports', async () => {
    const { lab, tenant } = await reportingLab();
    await using _ = lab;

    await report(lab, '203.0.113.20');

    await lab.until('the new address', () => edgeFile(tenant) === '203.0.113.20:443\n');
  });

  test('stay while the load balancer reports none, also after a restart', async () => {
    const { lab, tenant } = await reportingLab();
    await using _ = lab;
    const before = tenant.server.read(RESOURCES.configMap, PROXY)?.metadata.resourceVersion;

    await report(lab);
    await lab.until('its address is unknown', () => reasonOf(lab) === 'AddressUnknown');
    await lab.stopOperator();
    lab.startOperator();
    await lab.untilReconciled(2);

    expect(edgeFile(tenant)).toBe('203.0.113.10:443\n');
    expect(tenant.server.read(RESOURCES.configMap, PROXY)?.metadata.resourceVersion).toBe(before);
    expect(reasonOf(lab)).toBe('AddressUnknown');
  });

  test('go when the Edge gets another ingress class', async () => {
    const spec = { ...LAB_EDGES.haproxy.spec, addresses: undefined };
    await using lab = await OperatorLab.start({ edge: spec });
    lab.management.seed(...LAB_EDGES.haproxy.objects);
    const tenant = await lab.addExposed('blue');
    const reportIngress = async (ingress: unknown) =>
      lab.user.patch(
        RESOURCES.ingress,
        { name: 'snicket-blue.haproxy', namespace: TENANTS },
        'merge',
        { status: { loadBalancer: { ingress } } },
        { subresource: 'status' },
      );
    await reportIngress([{ ip: '192.0.2.1' }]);
    await lab.until('the proxies use the address', () => edgeFile(tenant)?.includes('192.0.2.1'));
    const ingressClass = LAB_EDGES.haproxy.objects.find(({ kind }) => kind === 'IngressClass')!;
    lab.management.seed({ ...ingressClass, metadata: { name: 'second' } });

    await lab.applyEdge({ ...spec, ingress: { className: 'second' } });
    await reportIngress([]);

    await lab.until('the proxies resolve the host', () => !edgeFile(tenant)?.includes('192.0.2.1'));
  });

  test('go when the user takes them off the Edge', async () => {
    await using lab = await OperatorLab.start({ edge: { addresses: ['203.0.113.10'] } });
    const tenant = await lab.addExposed('blue');
    expect(edgeFile(tenant)).toBe('203.0.113.10:443\n');

    await lab.applyEdge({ addresses: undefined });

    await lab.until('DNS is asked', () => edgeFile(tenant) === `${tenant.apiHost}:443\n`);
  });
});
