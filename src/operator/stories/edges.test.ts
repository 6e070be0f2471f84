import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { LAB_EDGES } from '../testing/edges.ts';
import { ALL_KINDS, OperatorLab } from '../testing/operator-lab.ts';
import { objectOf } from '../testing/objects.ts';

setDefaultTimeout(240_000);

/** Only events cause reconciles. */
const NEVER = { resyncMs: 3_600_000 };

const WITHOUT_TRAEFIK = ALL_KINDS.filter(({ apiVersion }) => !apiVersion.startsWith('traefik.io'));

interface EdgeObject {
  readonly status?: {
    readonly exposures?: number;
    readonly addresses?: readonly string[];
    readonly conditions?: readonly {
      readonly type: string;
      readonly reason: string;
      readonly message: string;
    }[];
  };
}

function edge(lab: OperatorLab, name = 'shared'): EdgeObject['status'] {
  return (lab.management.read(RESOURCES.edge, { name }) as EdgeObject | undefined)?.status;
}

const PROTECTION = 'snicket.dev/edge-protection';

function protection(lab: OperatorLab): readonly string[] {
  return lab.management.read(RESOURCES.edge, { name: 'shared' })?.metadata.finalizers ?? [];
}

function reason(lab: OperatorLab, type: string): string | undefined {
  return edge(lab)?.conditions?.find((condition) => condition.type === type)?.reason;
}

describe.concurrent('an Exposure and its Edge', () => {
  test('waits for an Edge that is created later', async () => {
    await using lab = await OperatorLab.start();
    await lab.addTenant('blue');

    await lab.expose('blue', { edgeRef: { name: 'later' } });

    const condition = await lab.untilCondition('blue', 'Accepted', /^False EdgeNotFound/);
    expect(condition).toContain('False EdgeNotFound: Edge later does not exist.');

    await lab.applyEdge({}, 'later');

    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    expect(lab.statusOf('blue')?.edgeRef?.name).toBe('later');
  });

  test('uses the default Edge without edgeRef, the older of two', async () => {
    await using lab = await OperatorLab.start();
    await lab.addTenant('blue');

    await lab.expose('blue', { edgeRef: undefined });

    await lab.untilCondition('blue', 'Accepted', /^False EdgeNotFound/);

    const isDefault = { 'snicket.dev/is-default': 'true' };
    await lab.applyEdge({}, 'shared', isDefault);
    await lab.untilCondition('blue', 'Accepted', /^True/);
    await lab.applyEdge({}, 'younger', isDefault);

    await lab.until('the younger is known', () => edge(lab, 'younger'));
    expect(lab.statusOf('blue')?.edgeRef?.name).toBe('shared');
    await lab.until('both are counted', () => edge(lab)?.exposures === 1);
    expect(edge(lab, 'younger')?.exposures).toBe(0);
  });

  test('a second default Edge moves no Exposure, and both Edges report the other', async () => {
    const isDefault = { 'snicket.dev/is-default': 'true' };
    await using lab = await OperatorLab.start();
    await lab.applyEdge({}, 'younger', isDefault);
    await lab.addExposed('blue', { edgeRef: undefined });
    expect(lab.statusOf('blue')?.edgeRef?.name).toBe('younger');
    const messageOf = (name: string) =>
      edge(lab, name)?.conditions?.find(({ type }) => type === 'Accepted')?.message ?? '';

    await lab.applyEdge({}, 'shared', isDefault);

    for (const name of ['shared', 'younger']) {
      await lab.until(`Edge ${name} reports it`, () =>
        messageOf(name).includes('DefaultEdgeInvalid'),
      );
      expect(messageOf(name)).toContain(
        'DefaultEdgeInvalid: Edges shared and younger are both annotated as default.',
      );
    }
    await lab.change(RESOURCES.exposure, 'blue', { metadata: { annotations: { look: 'again' } } });
    await lab.untilReconciled(1);
    expect(lab.statusOf('blue')?.edgeRef?.name).toBe('younger');

    await lab.change(RESOURCES.edge, 'younger', { metadata: { annotations: null } });

    await lab.until('blue moves', () => lab.statusOf('blue')?.edgeRef?.name === 'shared');
    await lab.until(
      'the message is gone',
      () => !messageOf('shared').includes('DefaultEdgeInvalid'),
    );
  });

  test('an Exposure that moves to another default Edge stays there when the previous one is a default again', async () => {
    const isDefault = { 'snicket.dev/is-default': 'true' };
    await using lab = await OperatorLab.start(NEVER);
    await lab.applyEdge({ domain: 'a.test' }, 'a', isDefault);
    await lab.addExposed('blue', { edgeRef: undefined });
    await lab.environment.pass(5_000);
    await lab.applyEdge({ domain: 'b.test' }, 'b', isDefault);
    await lab.change(RESOURCES.edge, 'a', { metadata: { annotations: null } });
    await lab.until('blue moves', () => lab.statusOf('blue')?.edgeRef?.name === 'b');
    await lab.until('blue has both hosts', () => lab.apiHostsOf('blue').length === 2);

    await lab.change(RESOURCES.edge, 'a', { metadata: { annotations: isDefault } });

    await lab.environment.pass(600_000);
    expect(lab.statusOf('blue')?.edgeRef?.name).toBe('b');
    const marks = lab
      .tenantRoutes()
      .map(({ metadata, spec }) => [spec.edgeRef.name, metadata.labels?.['snicket.dev/previous']]);
    expect(marks.filter(([edge]) => edge === 'a').every(([, mark]) => mark === 'true')).toBe(true);
    expect(marks.filter(([edge]) => edge === 'b').every(([, mark]) => mark === undefined)).toBe(
      true,
    );

    // Back on the previous Edge, its TenantRoutes are the current ones again.
    await lab.change(RESOURCES.edge, 'b', { metadata: { annotations: null } });
    await lab.until('blue moves back', () => lab.statusOf('blue')?.edgeRef?.name === 'a');
    await lab.environment.pass(60_000);
    const current = lab.tenantRoutes().filter(({ spec }) => spec.edgeRef.name === 'a');
    expect(current.length).toBeGreaterThan(0);
    expect(current.map(({ metadata }) => metadata.labels?.['snicket.dev/previous'])).toEqual(
      current.map(() => undefined),
    );
  });

  test('an Edge for other namespaces accepts no Exposure, and its routes are removed', async () => {
    await using lab = await OperatorLab.start({ edge: LAB_EDGES.haproxy.spec });
    lab.management.seed(...LAB_EDGES.haproxy.objects);
    await lab.addExposed('blue');

    const selector = { matchLabels: { team: 'a' } };
    const allowedNamespaces = { from: 'Selector', selector };
    await lab.applyEdge({ ...LAB_EDGES.haproxy.spec, allowedNamespaces });

    const condition = await lab.untilCondition('blue', 'Accepted', /^False NamespaceNotAllowed/);
    expect(condition).toContain(
      'False NamespaceNotAllowed: Edge shared does not allow Exposures in namespace tenants, whose labels do not match team=a.',
    );
    await lab.until(
      'the Ingress is gone',
      () => !lab.read(RESOURCES.ingress, 'snicket-blue.haproxy'),
    );
    await lab.until('there is no route', () => lab.routesOf('blue').length === 0);

    await lab.applyEdge({ ...LAB_EDGES.haproxy.spec, allowedNamespaces: { from: 'All' } });

    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    await lab.until('the Ingress is there again', () =>
      lab.read(RESOURCES.ingress, 'snicket-blue.haproxy'),
    );
  });

  test('the labels of a namespace and the selector of the Edge apply at once', async () => {
    const allowedNamespaces = { from: 'Selector', selector: { matchLabels: { team: 'a' } } };
    await using lab = await OperatorLab.start({ ...NEVER, edge: { allowedNamespaces } });
    await lab.addTenant('blue');
    await lab.expose('blue');
    await lab.untilCondition('blue', 'Accepted', /^False NamespaceNotAllowed/);

    const at = { name: 'tenants' };
    await lab.user.patch(RESOURCES.namespace, at, 'merge', { metadata: { labels: { team: 'a' } } });

    await lab.untilCondition('blue', 'WorkersReady', /^True/);

    await lab.user.patch(RESOURCES.namespace, at, 'merge', { metadata: { labels: { team: 'b' } } });

    await lab.untilCondition('blue', 'Accepted', /^False NamespaceNotAllowed/);
  });

  test('a namespace that loses its label releases its hosts for waiting Exposures', async () => {
    const allowedNamespaces = { from: 'Selector', selector: { matchLabels: { team: 'a' } } };
    await using lab = await OperatorLab.start(NEVER);
    lab.management.seed(objectOf('Namespace', { name: 'shop', labels: { team: 'a' } }));
    await lab.user.patch(...([RESOURCES.namespace, { name: 'tenants' }, 'merge'] as const), {
      metadata: { labels: { team: 'a' } },
    });
    await lab.applyEdge({ allowedNamespaces });
    const hosts = { api: 'wanted.example.test' };
    // Its control plane does not exist, so that it claims the host without a route.
    await lab.user.apply({
      apiVersion: RESOURCES.exposure.apiVersion,
      kind: 'Exposure',
      metadata: { name: 'older', namespace: 'shop' },
      spec: {
        edgeRef: { name: 'shared' },
        hosts,
        controlPlane: {
          type: 'Object',
          objectRef: { group: 'kamaji.clastix.io', kind: 'TenantControlPlane', name: 'missing' },
        },
      },
    } as KubeObject);
    await lab.addTenant('blue');
    await lab.expose('blue', { hosts });
    await lab.untilCondition('blue', 'Accepted', /^False HostConflict/);

    await lab.user.patch(...([RESOURCES.namespace, { name: 'shop' }, 'merge'] as const), {
      metadata: { labels: { team: null } },
    });

    await lab.untilCondition('blue', 'Accepted', /^True/);
  });

  test('a host that the Edge does not allow is refused, and a host that it stops allowing loses its route', async () => {
    await using lab = await OperatorLab.start();
    await lab.addTenant('blue');
    await lab.expose('blue', { hosts: { api: 'blue.example.net' } });

    const condition = await lab.untilCondition('blue', 'Accepted', /^False HostNotAllowed/);
    expect(condition).toContain(
      'False HostNotAllowed: Edge shared does not allow host blue.example.net, only *.example.test.',
    );

    await lab.applyEdge({ allowedHosts: ['*.example.net'] });

    await lab.untilCondition('blue', 'WorkersReady', /^True/);

    await lab.applyEdge({ allowedHosts: ['*.example.test'] });

    await lab.untilCondition('blue', 'Accepted', /^False HostNotAllowed/);
    await lab.until('no route is left', () => lab.routesOf('blue').length === 0);
  });

  test('the gateway keeps serving the route when the Edge is deleted by force', async () => {
    await using lab = await OperatorLab.start();
    await lab.addExposed('blue');
    const { driver, endpoint, mode, proxies } = lab.statusOf('blue')!;
    const routes = lab.routesOf('blue');

    await lab.until('the Edge is protected', () => protection(lab).includes(PROTECTION));
    await lab.user.delete(RESOURCES.edge, { name: 'shared' });
    await lab.user.patch(RESOURCES.edge, { name: 'shared' }, 'merge', {
      metadata: { finalizers: null },
    });

    await lab.untilCondition('blue', 'Accepted', /^False EdgeNotFound/);
    expect(lab.statusOf('blue')).toMatchObject({ driver, endpoint, mode, proxies });
    expect(lab.routesOf('blue')).toEqual(routes);

    await lab.applyEdge();

    await lab.untilCondition('blue', 'WorkersReady', /^True/);
  });

  test('a deleted Edge serves its Exposures, accepts no others, and is gone with the last', async () => {
    await using lab = await OperatorLab.start({ resyncMs: 3_600_000 });
    await lab.addExposed('blue');
    await lab.addExposed('red');
    await lab.until('the Edge is protected', () => protection(lab).includes(PROTECTION));
    const routes = lab.routesOf('blue');

    await lab.user.delete(RESOURCES.edge, { name: 'shared' });

    const accepted = () => edge(lab)?.conditions?.find(({ type }) => type === 'Accepted');
    await lab.until('the condition reports it', () => accepted()?.reason === 'EdgeTerminating');
    expect(accepted()?.message).toBe(
      'Edge shared is being deleted. It keeps serving the Exposures that use it: tenants/blue, tenants/red. Delete these Exposures, or set their spec.edgeRef to another Edge. If it names another Edge already, the move is not complete: see condition Routed of the Exposure.',
    );
    expect(reason(lab, 'Ready')).toBe('Ready');

    await lab.addTenant('late');
    await lab.environment.pass(2_000);
    await lab.expose('late');
    const condition = await lab.untilCondition('late', 'Accepted', /^False EdgeTerminating/);
    expect(condition).toContain('Edge shared is being deleted and accepts no new Exposures.');
    expect(lab.condition('blue', 'Accepted')).toStartWith('True');
    expect(lab.routesOf('blue')).toEqual(routes);

    await lab.untilGone('blue');
    await lab.until('one Exposure is left', () =>
      accepted()?.message.includes('use it: tenants/red.'),
    );
    await lab.untilGone('red');

    await lab.until('the Edge is gone', () => edge(lab) === undefined);
    await lab.untilCondition('late', 'Accepted', /^False EdgeNotFound/);
  });

  test('a deleted Edge accepts no Exposure of another Edge, which keeps its routes there', async () => {
    await using lab = await OperatorLab.start({ resyncMs: 3_600_000 });
    await lab.applyEdge({ domain: 'other.test' }, 'other');
    await lab.addExposed('blue');
    await lab.addTenant('green');
    await lab.expose('green', { edgeRef: { name: 'other' } });
    await lab.untilCondition('green', 'Ready', /^True/);
    await lab.until('the Edge is protected', () => protection(lab).includes(PROTECTION));
    await lab.user.delete(RESOURCES.edge, { name: 'shared' });
    const routes = lab.routesOf('green');

    await lab.expose('green', { edgeRef: { name: 'shared' } });

    const condition = await lab.untilCondition('green', 'Accepted', /^False EdgeTerminating/);
    expect(condition).toContain(
      'False EdgeTerminating: Edge shared is being deleted and accepts no new Exposures.',
    );
    expect(lab.routesOf('green')).toEqual(routes);
    expect(lab.condition('blue', 'Accepted')).toStartWith('True');

    await lab.expose('green', { edgeRef: { name: 'other' } });

    await lab.untilCondition('green', 'Ready', /^True/);
    expect(lab.routesOf('green')).toEqual(routes);
    await lab.untilGone('blue');
    await lab.until('the Edge is gone', () => edge(lab) === undefined);
  });

  test('an unused Edge is deleted at once, also if it was used before', async () => {
    await using lab = await OperatorLab.start();
    await lab.addExposed('blue');
    await lab.until('the Edge is protected', () => protection(lab).includes(PROTECTION));
    await lab.untilGone('blue');
    await lab.until('the finalizer is gone', () => protection(lab).length === 0);

    await lab.user.delete(RESOURCES.edge, { name: 'shared' });

    expect(lab.management.read(RESOURCES.edge, { name: 'shared' })).toBeUndefined();
  });

  test('an Exposure that its Edge no longer allows blocks the deletion while it is routed', async () => {
    await using lab = await OperatorLab.start({ resyncMs: 3_600_000 });
    await lab.addTenant('never');
    await lab.addExposed('blue');
    await lab.until('the Edge is protected', () => protection(lab).includes(PROTECTION));

    // 1. Both are refused, and blue loses its TenantRoute.
    await lab.applyEdge({ allowedHosts: ['*.other.test'] });
    await lab.expose('never');

    await lab.untilCondition('never', 'Accepted', /^False HostNotAllowed/);
    await lab.untilCondition('blue', 'Accepted', /^False HostNotAllowed/);
    await lab.until('no Exposure uses the Edge', () => protection(lab).length === 0);
    expect(edge(lab)?.exposures).toBe(0);
    expect(lab.routesOf('blue')).toEqual([]);

    // 2. Nothing holds it.
    await lab.user.delete(RESOURCES.edge, { name: 'shared' });
    expect(lab.management.read(RESOURCES.edge, { name: 'shared' })).toBeUndefined();
  });

  test('another driver: new objects are created, and the old ones are removed once all conditions are met', async () => {
    await using lab = await OperatorLab.start({ hasSockets: true, resources: ALL_KINDS });
    lab.management.seed(...LAB_EDGES.haproxy.objects);
    const { server, port } = await lab.addExposed('blue');

    await lab.applyEdge({ ...LAB_EDGES.haproxy.spec, port });

    await lab.until('driver haproxy', () => lab.statusOf('blue')?.driver === 'haproxy');
    expect(lab.read(RESOURCES.ingress, 'snicket-blue.haproxy')).toBeDefined();
    await lab.until('a certificate', () => lab.statusOf('blue')?.certificate);
    expect(lab.statusOf('blue')?.mode).toBe('Terminate');

    await lab.applyEdge({ ...LAB_EDGES.traefik.spec, port });

    await lab.until(
      'the Ingress is gone',
      () => !lab.read(RESOURCES.ingress, 'snicket-blue.haproxy'),
    );
    expect(lab.read(RESOURCES.ingressRouteTcp, 'snicket-blue')).toBeDefined();

    await lab.applyEdge({ port });

    await lab.until(
      'the route object is gone',
      () => !lab.read(RESOURCES.ingressRouteTcp, 'snicket-blue'),
    );
    await lab.until('no certificate', () => lab.statusOf('blue')?.certificate === undefined);
    const secret = { name: 'snicket-proxy', namespace: 'kube-system' };
    await lab.until('a key again', () =>
      Object.hasOwn(
        (server.read(RESOURCES.secret, secret) as { data?: object } | undefined)?.data ?? {},
        'tenant.key',
      ),
    );
  });

  test('the objects of the previous driver stay while proxies use them', async () => {
    await using lab = await OperatorLab.start({ hasSockets: true, edge: LAB_EDGES.haproxy.spec });
    lab.management.seed(...LAB_EDGES.haproxy.objects);
    const { port, controllers } = await lab.addExposed('blue');
    await controllers.addNode('worker', ['192.0.2.1']);
    await lab.applyEdge({ ...LAB_EDGES.haproxy.spec, port });
    await lab.untilCondition('blue', 'Ready', /^True/);

    // 1. The proxies get another version, and no controller rolls it out.
    controllers.pause();
    await lab.expose('blue', { worker: { logLevel: 'debug' } });
    await lab.untilCondition('blue', 'WorkersReady', /^False ProxiesNotObserved/);

    // 2. Both drivers' objects are there.
    await lab.applyEdge({ ...LAB_EDGES.traefik.spec, port });
    await lab.until('driver traefik', () => lab.statusOf('blue')?.driver === 'traefik');
    expect(lab.read(RESOURCES.ingressRouteTcp, 'snicket-blue')).toBeDefined();
    expect(lab.read(RESOURCES.ingress, 'snicket-blue.haproxy')).toBeDefined();
    expect(lab.condition('blue', 'Routed')).toContain(
      'Snicket deletes Ingress tenants/snicket-blue.haproxy once all conditions of the Exposure are True with driver traefik and DNS points to its Edge.',
    );

    // 3. Until all proxies are new ones.
    controllers.resume();
    await lab.until(
      'the Ingress is gone',
      () => !lab.read(RESOURCES.ingress, 'snicket-blue.haproxy'),
    );
    await lab.untilCondition('blue', 'Ready', /^True/);
    await lab.untilCondition('blue', 'Routed', /^True(?!.*Snicket deletes Ingress)/);
  });

  test('two drivers with an Ingress each have their own during a move', async () => {
    await using lab = await OperatorLab.start({ hasSockets: true, edge: LAB_EDGES.haproxy.spec });
    const nginx = { driver: 'nginx', ingress: { className: 'nginx' } };
    lab.management.seed(
      ...LAB_EDGES.haproxy.objects,
      objectOf('IngressClass', { name: 'nginx' }, { spec: { controller: 'k8s.io/ingress-nginx' } }),
    );
    const { port, controllers } = await lab.addExposed('blue');
    await controllers.addNode('worker', ['192.0.2.1']);
    await lab.applyEdge({ ...LAB_EDGES.haproxy.spec, port });
    await lab.untilCondition('blue', 'Ready', /^True/);
    const ingress = (driver: string) => lab.read(RESOURCES.ingress, `snicket-blue.${driver}`);
    controllers.pause();
    await lab.expose('blue', { worker: { logLevel: 'debug' } });
    await lab.untilCondition('blue', 'WorkersReady', /^False ProxiesNotObserved/);

    await lab.applyEdge({ ...nginx, port });

    await lab.until('driver nginx', () => lab.statusOf('blue')?.driver === 'nginx');
    expect([ingress('haproxy'), ingress('nginx')]).not.toContain(undefined);

    controllers.resume();

    await lab.until('the Ingress of haproxy is gone', () => ingress('haproxy') === undefined);
    await lab.untilCondition('blue', 'Ready', /^True/);
    expect(ingress('nginx')).toBeDefined();
  });

  test("Snicket's gateway serves a tenant until its proxies use another driver", async () => {
    await using lab = await OperatorLab.start({ hasSockets: true, resources: ALL_KINDS });
    lab.management.seed(...LAB_EDGES.haproxy.objects);
    const { port, controllers } = await lab.addExposed('blue');
    await controllers.addNode('worker', ['192.0.2.1']);
    await lab.applyEdge({ port });
    await lab.untilCondition('blue', 'Ready', /^True/);
    const drivers = () =>
      lab
        .routesOf('blue')
        .map(({ driver }) => driver)
        .toSorted();
    expect(drivers()).toEqual(['snicket']);
    controllers.pause();

    await lab.applyEdge({ ...LAB_EDGES.haproxy.spec, port });

    await lab.until('driver haproxy', () => lab.statusOf('blue')?.driver === 'haproxy');
    await lab.untilCondition('blue', 'WorkersReady', /^False ProxiesNotObserved/);
    expect(drivers()).toEqual(['haproxy', 'snicket']);

    controllers.resume();

    await lab.untilCondition('blue', 'Ready', /^True/);
    await lab.until('the routes of one driver are left', () => drivers().length === 1);
    expect(drivers()).toEqual(['haproxy']);
  });

  test('a driver whose API is missing removes nothing', async () => {
    const options = { edge: LAB_EDGES.haproxy.spec, resources: WITHOUT_TRAEFIK };
    await using lab = await OperatorLab.start(options);
    lab.management.seed(...LAB_EDGES.haproxy.objects);
    const { server } = await lab.addExposed('blue');
    const proxies = () =>
      server.read(RESOURCES.daemonSet, { name: 'snicket-proxy', namespace: 'kube-system' });
    const before = proxies();

    await lab.applyEdge({ ...LAB_EDGES.traefik.spec, port: 8443 });

    await lab.untilCondition('blue', 'Routed', /^False EdgeApiMissing/);
    expect(lab.read(RESOURCES.ingress, 'snicket-blue.haproxy')).toBeDefined();
    expect(lab.statusOf('blue')).toMatchObject({
      driver: 'haproxy',
      endpoint: 'tenants-blue.k8s.example.test:443',
    });
    expect(proxies()).toEqual(before);
    await lab.until('the Edge reports it', () => reason(lab, 'Ready') === 'EdgeApiMissing');
  });

  test('a driver whose API is missing keeps the route of the gateway', async () => {
    await using lab = await OperatorLab.start({ resources: WITHOUT_TRAEFIK });
    await lab.addExposed('blue');
    const routes = lab.routesOf('blue');

    await lab.applyEdge(LAB_EDGES.traefik.spec);

    await lab.untilCondition('blue', 'Routed', /^False EdgeApiMissing/);
    expect(lab.statusOf('blue')).toMatchObject({ driver: 'snicket', mode: 'Passthrough' });
    expect(lab.routesOf('blue')).toEqual(routes);
  });

  test('a foreign object with a required name is left alone', async () => {
    const { spec, objects, resource } = LAB_EDGES.haproxy;
    await using lab = await OperatorLab.start({ edge: spec });
    lab.management.seed(...objects);
    const theirs = { spec: { rules: [{ host: 'shop.example.test' }] } };
    const key = { name: 'snicket-blue.haproxy', namespace: 'tenants' };
    await lab.user.create(resource, objectOf('Ingress', key, theirs));
    await lab.addTenant('blue');

    await lab.expose('blue');

    const condition = await lab.untilCondition('blue', 'Routed', /^False NameConflict/);
    expect(condition).toContain(
      'Ingress tenants/snicket-blue.haproxy already exists and was not created by Snicket.',
    );
    expect(lab.read(resource, 'snicket-blue.haproxy')).toMatchObject(theirs);

    await lab.user.delete(resource, key);

    await lab.until(
      'ours is there',
      () => lab.read(resource, 'snicket-blue.haproxy')?.metadata.labels,
    );
  });

  test('an Edge reports its addresses and the number of its Exposures', async () => {
    await using lab = await OperatorLab.start({ edge: { addresses: undefined } });
    await lab.addExposed('blue');
    await lab.until('its address is unknown', () => reason(lab, 'Ready') === 'AddressUnknown');
    const service = { name: 'snicket-gateway', namespace: 'snicket-system' };
    await lab.user.create(RESOURCES.service, objectOf('Service', service, { spec: {} }));
    const status = { loadBalancer: { ingress: [{ ip: '203.0.113.10' }] } };

    await lab.user.patch(
      RESOURCES.service,
      service,
      'merge',
      { status },
      {
        subresource: 'status',
      },
    );

    await lab.until('its address is known', () => edge(lab)?.addresses?.[0] === '203.0.113.10');
    await lab.until('the Edge counts its Exposure', () => edge(lab)?.exposures === 1);
    expect(reason(lab, 'Ready')).toBe('Ready');
  });
});
