import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { RESOURCES } from '../../kube/resource.ts';
import { KUBERNETES } from '../../tenant/endpoints/kubernetes-endpoints.ts';
import { PROXY, PROXY_LABELS } from '../../tenant/proxy-names.ts';
import { LAB_EDGES } from '../testing/edges.ts';
import { OperatorLab } from '../testing/operator-lab.ts';
import { objectOf, snapshotOf } from '../testing/objects.ts';
import { TENANTS } from '../testing/namespaces.ts';

setDefaultTimeout(240_000);

interface Proxies {
  readonly spec?: {
    readonly template: {
      readonly spec: { readonly containers: { readonly name: string; readonly args: string[] }[] };
    };
  };
}

describe.concurrent('an Exposure that is deleted', () => {
  test.each<[string, object]>([
    ['virtual addresses', {}],
    ['the addresses of nodes', { worker: { address: 'Node' } }],
    ['injected pods', { worker: { directInjection: true } }],
  ])('leaves both clusters as they were, with %s', async (_what, spec) => {
    const edge = LAB_EDGES['gateway-api'];
    await using lab = await OperatorLab.start({ edge: edge.spec, isOperatorRunning: false });
    lab.management.seed(...edge.objects);
    const { server, controllers } = await lab.addTenant('blue');
    await controllers.addNode('worker-1', ['10.0.0.1']);
    const tenantBefore = snapshotOf(server.readAll());
    const before = snapshotOf(lab.management.readAll());
    lab.startOperator();
    await lab.expose('blue', { ...spec });
    await lab.untilCondition('blue', 'WorkersReady', /^True/);

    await lab.untilGone('blue');

    await lab.until('the pods are gone', () =>
      server.readAll().every(({ kind }) => kind !== 'Pod'),
    );
    await lab.until('the Edge is not protected any more', () =>
      lab.management.readAll().every(({ metadata }) => (metadata.finalizers ?? []).length === 0),
    );
    expect(snapshotOf(server.readAll())).toEqual(tenantBefore);
    // The Edge counts its Exposures, and the gateway's keys are for all of them.
    const {
      'Edge /shared': edgeAfter,
      'Secret snicket-system/snicket-gateway-keys': _keys,
      ...after
    } = snapshotOf(lab.management.readAll());
    const { 'Edge /shared': edgeBefore, ...others } = before;
    expect({ ...edgeAfter, status: undefined }).toEqual({ ...edgeBefore, status: undefined });
    expect(after).toEqual(others);
  });

  test('removes proxies that have lost their label, and reports objects that have lost everything', async () => {
    await using lab = await OperatorLab.start();
    const { server, user } = await lab.addExposed('blue');
    await lab.stopOperator();
    const unlabeled = { labels: { 'app.kubernetes.io/managed-by': null } };
    await user.patch(RESOURCES.daemonSet, PROXY, 'merge', { metadata: unlabeled });
    const unknown = { ...unlabeled, annotations: null };
    await user.patch(RESOURCES.serviceAccount, PROXY, 'merge', { metadata: unknown });
    await lab.unexpose('blue');

    lab.startOperator();

    await lab.until('Exposure blue is gone', () => lab.exposure('blue') === undefined);
    expect(server.read(RESOURCES.daemonSet, PROXY)).toBeUndefined();
    expect(server.read(RESOURCES.serviceAccount, PROXY)).toBeDefined();
    await lab.until('it is reported', () => lab.eventsOf('blue').includes('CleanupIncomplete'));
  });

  test('removes the virtual address from all nodes before its proxies', async () => {
    await using lab = await OperatorLab.start();
    const { server, controllers } = await lab.addExposed('blue');
    await controllers.addNode('worker-1', ['10.0.0.1']);
    controllers.pause();

    await lab.unexpose('blue');

    const proxies = () => server.read(RESOURCES.daemonSet, PROXY) as Proxies | undefined;
    await lab.until('the proxies are leaving', () => {
      const [container] = proxies()?.spec?.template.spec.containers ?? [];
      return container?.args.includes('remove') === true && container.args.includes('100.64.64.1');
    });
    expect(server.read(RESOURCES.endpointSlice, KUBERNETES)).toBeUndefined();
    expect(lab.exposure('blue')).toBeDefined();
    expect(lab.routesOf('blue')).not.toEqual([]);

    controllers.resume();

    await lab.until('Exposure blue is gone', () => lab.exposure('blue') === undefined);
    expect(proxies()).toBeUndefined();
  });

  test('removes the address also if the operator was down for half of the time', async () => {
    await using lab = await OperatorLab.start({ cleanupTimeoutMs: 120_000 });
    const { server, controllers } = await lab.addTenant('blue');
    await controllers.addNode('worker-1', ['10.0.0.1']);
    await lab.expose('blue');
    await lab.untilCondition('blue', 'WorkersReady', /^True ProxiesReady/);
    await lab.stopOperator();
    await lab.unexpose('blue');
    // In place, past the API, which lets nobody write this: nothing but the date has to go by.
    const deletionTimestamp = new Date(
      lab.environment.clock.now().getTime() - 61_000,
    ).toISOString();
    Object.assign(lab.exposure('blue')!.metadata, { deletionTimestamp });
    const before = server.writes().length;

    lab.startOperator();

    await lab.until('Exposure blue is gone', () => lab.exposure('blue') === undefined);
    const writes = server.writes().slice(before);
    const verbs = writes.filter(({ plural }) => plural === 'daemonsets').map(({ verb }) => verb);
    expect(verbs[0]).toBe('apply');
    expect(verbs.at(-1)).toBe('delete');
    expect(lab.eventsOf('blue')).not.toContain('CleanupIncomplete');
  });

  test('reports nodes that have not removed the address in time', async () => {
    await using lab = await OperatorLab.start({ cleanupTimeoutMs: 500 });
    const { server, controllers } = await lab.addTenant('blue');
    await controllers.addNode('worker-1', ['10.0.0.1']);
    await lab.expose('blue');
    await lab.untilCondition('blue', 'WorkersReady', /^True ProxiesReady/);
    controllers.pause();

    await lab.untilGone('blue');

    await lab.until('an event', () => lab.eventsOf('blue').includes('CleanupIncomplete'));
    expect(server.read(RESOURCES.daemonSet, PROXY)).toBeUndefined();
  });

  test('gives up on a tenant that cannot be reached, and reports it', async () => {
    const { spec, objects, resource, name } = LAB_EDGES.haproxy;
    await using lab = await OperatorLab.start({ edge: spec, cleanupTimeoutMs: 1 });
    lab.management.seed(...objects);
    const { server } = await lab.addExposed('blue');
    await server.goDown();

    await lab.untilGone('blue');

    expect(lab.read(resource, name)).toBeUndefined();
    await lab.until('an event', () => lab.eventsOf('blue').includes('CleanupIncomplete'));
    await server.comeUp();
    expect(server.read(RESOURCES.daemonSet, PROXY)).toBeDefined();
  });

  test('waits for a tenant that is down for a while', async () => {
    await using lab = await OperatorLab.start();
    const { server } = await lab.addExposed('blue');
    await server.goDown();
    await lab.unexpose('blue');
    const condition = await lab.untilCondition('blue', 'Ready', /^False CleaningUp/);
    expect(condition).toContain(server.url.replace('https://', ''));
    expect(condition).toMatch(
      /Check that the control plane runs.*\. At \d{4}-.*Z, Snicket gives up and leaves DaemonSet kube-system\/snicket-proxy/,
    );

    await server.comeUp();

    await lab.until('Exposure blue is gone', () => lab.exposure('blue') === undefined);
    expect(server.read(RESOURCES.daemonSet, PROXY)).toBeUndefined();
    expect(lab.eventsOf('blue')).not.toContain('CleanupIncomplete');
  });

  test('reports the cleanup and its deadline at once if the tenant did not answer before', async () => {
    await using lab = await OperatorLab.start({ resyncMs: 1_000 });
    const { server } = await lab.addExposed('blue');
    await lab.stopOperator();
    server.inject({ kind: 'hang' }, {}, Number.POSITIVE_INFINITY);
    lab.startOperator({ tenantTimeoutMs: 300 });
    await lab.untilCondition('blue', 'WorkersReady', /^False TenantUnreachable/);
    await lab.stopOperator();
    await lab.unexpose('blue');

    lab.startOperator({ tenantTimeoutMs: 600_000 });

    // Before the first step has ended, which waits for an answer.
    const ready = () => lab.condition('blue', 'Ready') ?? '';
    await lab.until('it is reported', () => ready().startsWith('False CleaningUp'));
    expect(ready()).toMatch(
      /cannot be used: timeout\..*\. At \d{4}-.*Z, Snicket gives up and leaves DaemonSet/,
    );
    server.clearFaults();
    server.resetConnections();
    await lab.until('Exposure blue is gone', () => lab.exposure('blue') === undefined);
  });

  test('has a deadline that counts from its deletion, whenever the operator starts', async () => {
    await using lab = await OperatorLab.start();
    const { server } = await lab.addExposed('blue');
    await server.goDown();
    await lab.stopOperator();
    await lab.unexpose('blue');
    const deletedMs = Date.parse(lab.exposure('blue')?.metadata.deletionTimestamp ?? '');
    await lab.environment.pass(2_500);

    lab.startOperator({ tenantTimeoutMs: 500 });

    const condition = await lab.untilCondition('blue', 'Ready', /^False CleaningUp/);
    const end = new Date(deletedMs + 300_000).toISOString().replace('.000Z', 'Z');
    expect(condition).toContain(`At ${end}, Snicket gives up`);
  });

  test('does not wait for a tenant without objects of Snicket', async () => {
    await using lab = await OperatorLab.start();
    const { server } = await lab.addTenant('blue');
    await server.goDown();
    await lab.expose('blue');
    await lab.untilCondition('blue', 'WorkersReady', /^False TenantUnreachable/);

    await lab.untilGone('blue');

    expect(lab.eventsOf('blue')).not.toContain('CleanupIncomplete');
  });

  test('keeps foreign objects, however similar they are', async () => {
    const { spec, objects, resource } = LAB_EDGES.haproxy;
    await using lab = await OperatorLab.start({ edge: spec });
    lab.management.seed(...objects);
    const { server, user } = await lab.addExposed('blue');
    const labels = { 'app.kubernetes.io/managed-by': 'snicket', 'snicket.dev/exposure': 'blue' };
    const shop = { name: 'snicket-blue-shop', namespace: TENANTS };
    await lab.user.create(resource, objectOf('Ingress', { ...shop, labels }, { spec: {} }));
    const other = { name: 'snicket-proxy-other', namespace: 'kube-system' };
    await user.create(RESOURCES.secret, objectOf('Secret', { ...other, labels: PROXY_LABELS }));

    await lab.untilGone('blue');

    expect(lab.management.read(resource, shop)).toBeDefined();
    expect(server.read(RESOURCES.secret, other)).toBeDefined();
  });

  test('keeps the endpoints that an API server maintains itself again', async () => {
    await using lab = await OperatorLab.start();
    const { server, user } = await lab.addExposed('blue');
    await lab.stopOperator();
    // As kube-apiserver does: it makes its slice anew; in Endpoints it replaces the addresses and leaves the labels.
    const subsets = [{ addresses: [{ ip: '10.9.9.9' }], ports: [{ name: 'https', port: 6443 }] }];
    await user.patch(RESOURCES.endpoints, KUBERNETES, 'merge', { subsets });
    await user.delete(RESOURCES.endpointSlice, KUBERNETES);
    const labels = { 'kubernetes.io/service-name': 'kubernetes' };
    const slice = {
      ...objectOf('EndpointSlice', { ...KUBERNETES, labels }),
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.9.9.9'] }],
    };
    await user.create(RESOURCES.endpointSlice, slice);
    await lab.unexpose('blue');

    lab.startOperator();

    await lab.until('Exposure blue is gone', () => lab.exposure('blue') === undefined);
    expect(server.read(RESOURCES.daemonSet, PROXY)).toBeUndefined();
    expect(server.read(RESOURCES.endpoints, KUBERNETES)).toMatchObject({ subsets });
    expect(server.read(RESOURCES.endpointSlice, KUBERNETES)).toMatchObject({
      endpoints: slice.endpoints,
    });
  });

  test('cleans up even if the spec is no longer valid', async () => {
    const { spec, objects, resource, name } = LAB_EDGES.haproxy;
    await using lab = await OperatorLab.start({ edge: spec });
    lab.management.seed(...objects);
    const { server } = await lab.addExposed('blue');
    await lab.change(RESOURCES.exposure, 'blue', { spec: { worker: { address: 'elsewhere' } } });
    await lab.untilCondition('blue', 'Accepted', /^False/);
    expect(lab.read(resource, name)).toBeDefined();

    await lab.untilGone('blue');

    expect(lab.read(resource, name)).toBeUndefined();
    expect(server.read(RESOURCES.daemonSet, PROXY)).toBeUndefined();
  });

  test('is cleaned up after a timeout if its control plane cannot be read', async () => {
    await using lab = await OperatorLab.start({ cleanupTimeoutMs: 1 });
    await lab.addExposed('blue');
    await lab.change(RESOURCES.exposure, 'blue', { spec: { controlPlane: { service: null } } });
    await lab.untilCondition('blue', 'Accepted', /^False/);

    await lab.untilGone('blue');

    await lab.until('an event', () => lab.eventsOf('blue').includes('CleanupIncomplete'));
  });
});
