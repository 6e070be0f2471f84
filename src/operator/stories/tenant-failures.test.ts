import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { RESOURCES } from '../../kube/resource.ts';
import { KUBERNETES } from '../../tenant/endpoints/kubernetes-endpoints.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { LAB_EDGES } from '../testing/edges.ts';
import { OperatorLab } from '../testing/operator-lab.ts';

setDefaultTimeout(240_000);

describe.concurrent("a tenant's API server", () => {
  test('that has just started delays the reconcile until it is ready', async () => {
    await using lab = await OperatorLab.start({ resyncMs: 1_000 });
    const tenant = await lab.addTenant('blue', { isInitialized: false });
    await lab.expose('blue');
    await lab.untilCondition('blue', 'WorkersReady', /^False TenantNotInitialized/);
    expect(tenant.server.writes().map(({ plural }) => plural)).toEqual(['leases']);

    tenant.initialize();

    await lab.untilCondition('blue', 'WorkersReady', /^True/);
  });

  test('that is down is routed nevertheless, and reconciled when it is back', async () => {
    await using lab = await OperatorLab.start({ resyncMs: 1_000, edge: LAB_EDGES.traefik.spec });
    const { server, user } = await lab.addExposed('blue');
    const { proxies, certificate } = lab.statusOf('blue')!;
    await server.goDown();

    await lab.untilCondition('blue', 'WorkersReady', /^False TenantUnreachable/);

    expect(lab.condition('blue', 'Accepted')).toStartWith('True');
    expect(lab.statusOf('blue')).toMatchObject({
      proxies,
      certificate,
    });
    expect(lab.routesOf('blue')).toMatchObject([{ backend: { service: { name: 'blue' } } }]);

    await server.comeUp();
    await user.delete(RESOURCES.endpointSlice, KUBERNETES);

    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    await lab.until('mended', () => server.read(RESOURCES.endpointSlice, KUBERNETES));
  });

  test('that hangs does not delay others, and is reconciled when it answers', async () => {
    const options = { resyncMs: 1_000, concurrency: 1 };
    await using lab = await OperatorLab.start({ ...options, isOperatorRunning: false });
    const { server } = await lab.addTenant('blue');
    server.inject({ kind: 'hang' }, {}, Number.POSITIVE_INFINITY);
    await lab.expose('blue');
    lab.startOperator({ tenantTimeoutMs: 300 });
    await lab.untilCondition(
      'blue',
      'WorkersReady',
      /^False TenantUnreachable.*cannot be used: timeout/,
    );
    await lab.stopOperator();
    lab.startOperator({ tenantTimeoutMs: 600_000 });

    await lab.addExposed('green');

    expect(lab.condition('blue', 'Routed')).toStartWith('True');
    server.clearFaults();
    server.resetConnections();
    await lab.untilCondition('blue', 'WorkersReady', /^True/);
  });

  test('that fails intermittently is reconciled in the end, once', async () => {
    await using lab = await OperatorLab.start({ resyncMs: 1_000 });
    const { server } = await lab.addTenant('blue');
    server.inject({ kind: 'error', status: 500, reason: 'InternalError' }, { verb: 'apply' }, 2);
    server.inject({ kind: 'reset' }, { verb: 'apply', plural: 'daemonsets' });
    server.inject({ kind: 'error', status: 429, reason: 'TooManyRequests' }, { verb: 'list' });
    server.inject({ kind: 'error', status: 403, reason: 'Forbidden' }, { plural: 'configmaps' });
    server.inject({ kind: 'expired-event' }, { verb: 'watch' }, 3);

    await lab.expose('blue');

    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    const { proxies } = lab.statusOf('blue')!;
    expect(proxies).toEqual({ ready: 0, desired: 0, summary: '0/0' });
    const ours = server
      .readAll()
      .filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/managed-by'] === 'snicket');
    expect(ours.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted()).toEqual([
      'ConfigMap snicket-proxy',
      'DaemonSet snicket-proxy',
      'EndpointSlice kubernetes',
      'Endpoints kubernetes',
      'Lease snicket-owner',
      'Secret snicket-proxy',
      'ServiceAccount snicket-proxy',
    ]);
  });

  test('with working endpoints of another client keeps them until a proxy is ready', async () => {
    await using lab = await OperatorLab.start();
    const { server, user, controllers } = await lab.addTenant('blue');
    const { apiVersion, kind } = RESOURCES.endpointSlice;
    const labels = { 'kubernetes.io/service-name': 'kubernetes' };
    const theirs = {
      apiVersion,
      kind,
      metadata: { ...KUBERNETES, labels },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.1.2.3'] }],
    };
    await user.create(RESOURCES.endpointSlice, theirs);
    await controllers.addNode('worker-1', ['10.0.0.1'], false);
    await lab.expose('blue');
    await lab.until('proxies', () => server.read(RESOURCES.daemonSet, PROXY));
    await lab.untilCondition(
      'blue',
      'WorkersReady',
      /^False EndpointsOverwritten.*written by user/,
    );
    const slice = () => server.read(RESOURCES.endpointSlice, KUBERNETES);
    expect(slice()).toMatchObject({ endpoints: [{ addresses: ['10.1.2.3'] }] });

    controllers.setReady('worker-1', true);

    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    expect(slice()).toMatchObject({ endpoints: [{ addresses: ['100.64.64.1'] }] });
  });

  test("with a foreign object of the proxies' name keeps it", async () => {
    await using lab = await OperatorLab.start({ resyncMs: 1_000 });
    const { server, user } = await lab.addTenant('blue');
    const { apiVersion, kind } = RESOURCES.configMap;
    const metadata = { namespace: 'kube-system', name: 'snicket-proxy' };
    const theirs = { apiVersion, kind, metadata, data: { 'ca.crt': 'theirs' } };
    await user.create(RESOURCES.configMap, theirs);

    await lab.expose('blue');

    const condition = await lab.untilCondition('blue', 'WorkersReady', /^False NameConflict/);
    expect(condition).toContain('ConfigMap kube-system/snicket-proxy');
    expect(server.read(RESOURCES.configMap, metadata)).toMatchObject({ data: theirs.data });
    expect(server.read(RESOURCES.daemonSet, PROXY)).toBeUndefined();

    await user.delete(RESOURCES.configMap, metadata);

    await lab.untilCondition('blue', 'WorkersReady', /^True/);
  });
});
