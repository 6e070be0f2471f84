import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { LAB_EDGES } from '../testing/edges.ts';
import { OperatorLab } from '../testing/operator-lab.ts';

setDefaultTimeout(240_000);

const SPEC = { hosts: { api: 'wanted.example.test' } };

async function twoWho(lab: OperatorLab, first: string, second: string): Promise<void> {
  await lab.addTenant(first);
  await lab.addTenant(second);
  await lab.expose(first, SPEC);
  await lab.until(`${first} is routed`, () => lab.routesOf(first).length > 0);
  await lab.expose(second, SPEC);
}

describe.concurrent('two Exposures that request the same host', () => {
  test('the routed one keeps it, and the other reports its owner', async () => {
    await using lab = await OperatorLab.start({ edge: LAB_EDGES.traefik.spec });
    // By name, alpha would come first if both are of the same second.
    await twoWho(lab, 'zeta', 'alpha');

    const refusal = await lab.untilCondition('alpha', 'Accepted', /^False HostConflict/);

    expect(refusal).toContain(
      'False HostConflict: Host wanted.example.test is already used by Exposure tenants/zeta.',
    );
    expect(lab.apiHostsOf('zeta')).toEqual(['wanted.example.test']);
    expect(lab.routesOf('alpha')).toEqual([]);
    expect(lab.read(RESOURCES.ingressRouteTcp, 'snicket-alpha')).toBeUndefined();
    expect(lab.condition('alpha', 'Ready')).toStartWith('False HostConflict');
    expect(lab.condition('zeta', 'Accepted')).toStartWith('True');
  });

  test('the other takes over when the first one is deleted', async () => {
    await using lab = await OperatorLab.start();
    await twoWho(lab, 'blue', 'green');
    await lab.untilCondition('green', 'Accepted', /^False HostConflict/);

    await lab.untilGone('blue');

    await lab.untilCondition('green', 'WorkersReady', /^True/);
    expect(lab.apiHostsOf('green')).toEqual(['wanted.example.test']);
  });

  test('the other takes over when the previous route of the first one is removed', async () => {
    await using lab = await OperatorLab.start();
    await twoWho(lab, 'blue', 'green');
    await lab.untilCondition('green', 'Accepted', /^False HostConflict/);

    await lab.expose('blue', { hosts: { api: 'another.example.test' } });

    // 1. Clients may still use the previous host: it stays until blue is Ready by the new one.
    await lab.until('both hosts are routed', () => lab.apiHostsOf('blue').length === 2);
    await lab.untilReconciled(2);
    expect(lab.condition('green', 'Accepted')).toStartWith('False HostConflict');

    // 2. A user who will not wait deletes the TenantRoute.
    const previous = lab.tenantRoutes().find(({ spec }) => spec.host === 'wanted.example.test')!;
    await lab.user.delete(RESOURCES.tenantRoute, previous.metadata);

    await lab.untilCondition('green', 'Accepted', /^True/);
    await lab.until('green is routed', () => lab.apiHostsOf('green').length === 1);
    expect(lab.apiHostsOf('green')).toEqual(['wanted.example.test']);
    expect(lab.apiHostsOf('blue')).toEqual(['another.example.test']);
  });

  test('the refused one is not reconciled when an unrelated Exposure changes', async () => {
    const refused = Array.from({ length: 20 }, (_, place) => `refused-${place}`);
    await using lab = await OperatorLab.start();
    await lab.addExposed('blue', SPEC);
    await lab.addExposed('green');
    for (const name of refused) await lab.expose(name, SPEC, 'blue');
    for (const name of refused) await lab.untilCondition(name, 'Accepted', /^False HostConflict/);
    const runs = () => lab.number('reconciles_total', 'controller="exposure"');
    const before = runs();

    for (const host of ['a.example.test', 'b.example.test', 'c.example.test']) {
      await lab.expose('green', { hosts: { api: host } });
      await lab.until(`green is at ${host}`, () => lab.apiHostsOf('green').includes(host));
    }

    expect(runs() - before).toBeLessThan(refused.length);
  });

  test('names that result in the same host conflict too', async () => {
    await using lab = await OperatorLab.start();
    await lab.addExposed('blue');
    const { port } = await lab.addTenant('green');

    await lab.expose('green', {
      controlPlane: {
        type: 'Service',
        service: { name: 'green', apiPort: port, konnectivityPort: 8132 },
        caSecretRef: { name: 'green-ca' },
        kubeconfigSecretRef: { name: 'green-kubeconfig' },
      },
      hosts: { konnectivity: 'tenants-blue.k8s.example.test' },
    });

    const refusal = await lab.untilCondition('green', 'Accepted', /^False HostConflict/);
    expect(refusal).toContain('Exposure tenants/blue');
  });
});

/** An older one with konnectivity, and a younger one that runs; the older one requests a host of the other. */
async function squat(lab: OperatorLab, host: string, younger: Record<string, unknown> = {}) {
  const { port } = await lab.addTenant('older');
  const konnectivityPort = port + 1;
  await lab.change(RESOURCES.service, 'older', {
    spec: {
      ports: [
        { name: 'api', port, protocol: 'TCP' },
        { name: 'k', port: konnectivityPort },
      ],
    },
  });
  const controlPlane = {
    type: 'Service',
    service: { name: 'older', apiPort: port, konnectivityPort },
    caSecretRef: { name: 'older-ca' },
    kubeconfigSecretRef: { name: 'older-kubeconfig' },
  };
  await lab.expose('older', { controlPlane });
  await lab.untilCondition('older', 'WorkersReady', /^True/);
  await lab.addExposed('younger', younger);
  await lab.expose('older', { controlPlane, hosts: { konnectivity: host } });
}

const SQUATTED = 'tenants-younger.konnectivity.example.test';

describe.concurrent('an older Exposure that requests a host of a running Exposure', () => {
  test('may get an unused konnectivity host, and takes no route', async () => {
    await using lab = await OperatorLab.start();

    await squat(lab, SQUATTED);

    await lab.until('older owns the host', () =>
      lab.routesOf('older').some(({ host }) => host === SQUATTED),
    );
    await lab.change(RESOURCES.exposure, 'younger', {
      metadata: { annotations: { look: 'again' } },
    });
    await lab.untilReconciled(1);
    expect(lab.condition('younger', 'Accepted')).toStartWith('True');
    expect(lab.apiHostsOf('younger')).toEqual(['tenants-younger.k8s.example.test']);
  });

  test('takes no route from an Exposure that needs the konnectivity host later', async () => {
    const { spec, objects, resource } = LAB_EDGES.haproxy;
    await using lab = await OperatorLab.start({ edge: spec });
    lab.management.seed(...objects);
    await squat(lab, SQUATTED);
    await lab.until('older owns the host', () =>
      lab.routesOf('older').some(({ host }) => host === SQUATTED),
    );
    const before = lab.routesOf('younger');

    await lab.change(RESOURCES.exposure, 'younger', {
      spec: { controlPlane: { type: 'Service', service: { konnectivityPort: 8132 } } },
    });

    const refusal = await lab.untilCondition('younger', 'Accepted', /^False HostConflict/);
    expect(refusal).toContain(`Host ${SQUATTED} is already used by Exposure tenants/older`);
    expect(lab.routesOf('younger')).toEqual(before);
    expect(lab.read(resource, 'snicket-younger.haproxy')).toBeDefined();
  });
});

test('an Exposure keeps its route when it requests a host that another Exposure owns', async () => {
  const { spec, objects, resource } = LAB_EDGES.haproxy;
  await using lab = await OperatorLab.start({ edge: spec });
  lab.management.seed(...objects);
  await lab.addExposed('blue');
  await lab.addExposed('green');
  const before = { ...lab.statusOf('green'), routes: lab.routesOf('green') };

  await lab.expose('green', { hosts: { api: 'tenants-blue.k8s.example.test' } });

  const refusal = await lab.untilCondition('green', 'Accepted', /^False HostConflict/);
  expect(refusal).toContain('The route on tenants-green.k8s.example.test stays in use.');
  const { endpoint, edgeRef } = lab.statusOf('green')!;
  expect({ endpoint, edgeRef }).toEqual({ endpoint: before.endpoint, edgeRef: before.edgeRef });
  expect(lab.routesOf('green')).toEqual(before.routes);
  expect(lab.read(resource, 'snicket-green.haproxy')).toBeDefined();

  await lab.expose('green');

  await lab.untilCondition('green', 'WorkersReady', /^True/);
  expect(lab.condition('green', 'Accepted')).toStartWith('True');
});

test('a host is owned as soon as it is granted, before the watch reports it', async () => {
  await using lab = await OperatorLab.start({ isOperatorRunning: false });
  lab.management.inject({ kind: 'hang' }, { verb: 'watch', plural: 'tenantroutes' }, Infinity);
  lab.startOperator();
  await lab.addExposed('older');
  await lab.environment.pass(5_000);
  await lab.addTenant('younger');
  await lab.expose('younger', SPEC);
  await lab.until('younger is routed', () => lab.routesOf('younger').length > 0);

  await lab.expose('older', SPEC);

  const refusal = await lab.untilCondition('older', 'Accepted', /^False HostConflict/);
  expect(refusal).toContain('Exposure tenants/younger');
  expect(lab.apiHostsOf('older')).toEqual(['tenants-older.k8s.example.test']);
});

const HOST = 'tenants-blue.k8s.example.test';

/** Claims of another user in another namespace, on the same edge. */
const CLAIMS = {
  haproxy: {
    ingressClassName: 'haproxy',
    rules: [{ host: HOST, http: { paths: [] } }],
  },
  traefik: {
    entryPoints: ['websecure'],
    routes: [{ match: `HostSNI(\`${HOST}\`)`, services: [] }],
  },
  contour: { virtualhost: { fqdn: HOST } },
  'gateway-api': {
    parentRefs: [{ namespace: 'default', name: 'shared', sectionName: 'tls' }],
    hostnames: [HOST],
  },
} as const;

/** The same object, with no claim on our host any more. */
const AMENDED = {
  haproxy: { rules: [{ host: 'shop.example.test', http: { paths: [] } }] },
  traefik: { routes: [{ match: 'HostSNI(`shop.example.test`)', services: [] }] },
  contour: { virtualhost: { fqdn: 'shop.example.test' } },
  'gateway-api': { hostnames: ['shop.example.test'] },
} as const;

describe.concurrent('a foreign object that claims the host of an Exposure', () => {
  test.each(Object.keys(CLAIMS) as (keyof typeof CLAIMS)[])(
    'is named while it does, behind %s',
    async (driver) => {
      const { spec, objects, resource } = LAB_EDGES[driver];
      await using lab = await OperatorLab.start({ edge: spec });
      lab.management.seed(...objects);
      await lab.addExposed('blue');
      // Once this is known, nothing but the claim gives reason to look again.
      await lab.untilCondition('blue', 'Reachable', /^False EdgeRefused/);
      const shop = { name: 'shop', namespace: 'default' };
      const { apiVersion, kind } = resource;
      const claim = { apiVersion, kind, metadata: shop, spec: CLAIMS[driver] };

      await lab.user.apply(claim);

      const condition = await lab.untilCondition('blue', 'Routed', /^False HostClaimed/);
      expect(condition).toContain(`Host ${HOST} is also claimed by ${kind} default/shop`);

      await lab.user.patch(resource, shop, 'merge', { spec: AMENDED[driver] });

      await lab.untilCondition('blue', 'Routed', /^(?!False HostClaimed)/);

      await lab.user.apply(claim, { force: true });
      await lab.untilCondition('blue', 'Routed', /^False HostClaimed/);
      await lab.user.delete(resource, shop);

      await lab.untilCondition('blue', 'Routed', /^(?!False HostClaimed)/);
    },
  );

  test('is reported although its labels name the Exposure', async () => {
    const { spec, objects, resource } = LAB_EDGES.haproxy;
    await using lab = await OperatorLab.start({ edge: spec });
    lab.management.seed(...objects);
    await lab.addExposed('blue');
    const { labels, ownerReferences } = lab.read(resource, 'snicket-blue.haproxy')!.metadata;
    const { apiVersion, kind } = resource;
    const metadata = {
      name: 'snicket-blue.haproxy',
      namespace: 'default',
      labels,
      ownerReferences,
    };

    await lab.user.apply({ apiVersion, kind, metadata, spec: CLAIMS.haproxy } as KubeObject);

    const condition = await lab.untilCondition('blue', 'Routed', /^False HostClaimed/);
    expect(condition).toContain(
      `Host ${HOST} is also claimed by Ingress default/snicket-blue.haproxy`,
    );

    await lab.user.delete(resource, metadata);

    await lab.untilCondition('blue', 'Routed', /^(?!False HostClaimed)/);
  });

  test('takes no existing route away', async () => {
    const { spec, objects, resource } = LAB_EDGES.haproxy;
    await using lab = await OperatorLab.start({ edge: spec });
    lab.management.seed(...objects);
    await lab.addExposed('blue');
    const { apiVersion, kind } = resource;
    const metadata = { name: 'shop', namespace: 'default' };

    await lab.user.apply({ apiVersion, kind, metadata, spec: CLAIMS.haproxy });

    await lab.untilCondition('blue', 'Routed', /^False HostClaimed/);
    expect(lab.read(resource, 'snicket-blue.haproxy')).toBeDefined();
    expect(lab.apiHostsOf('blue')).toEqual([HOST]);
    expect(lab.condition('blue', 'WorkersReady')).toStartWith('True');
  });
});

describe.concurrent('an Exposure whose host belonged to a TenantRoute of another Exposure', () => {
  /** Another client gives red's host to the older TenantRoute of blue, and blue cannot restore it at first. */
  async function labWithTakenHost() {
    const lab = await OperatorLab.start({ resyncMs: 36_000_000 });
    await lab.addExposed('blue');
    await lab.environment.pass(5_000);
    await lab.addExposed('red');
    const [host = ''] = lab.apiHostsOf('red');
    const route = lab.tenantRoutes().find(({ spec }) => spec.exposureRef.name === 'blue')!;
    lab.management.inject(
      { kind: 'error', status: 500, reason: 'InternalError' },
      { verb: 'apply', plural: 'tenantroutes' },
      4,
    );
    await lab.change(RESOURCES.tenantRoute, route.metadata.name, { spec: { host } });
    await lab.untilCondition('red', 'Accepted', /^False HostConflict/);
    return { lab, host, route };
  }

  test('gets it back when the operator restores that TenantRoute', async () => {
    const { lab, host } = await labWithTakenHost();
    await using _ = lab;

    await lab.until('blue has its host again', () => !lab.apiHostsOf('blue').includes(host));

    await lab.environment.pass(20_000);
    expect(lab.condition('red', 'Accepted')).toMatch(/^True/);
    expect(lab.apiHostsOf('red')).toEqual([host]);
  });

  test('gets it back when another client restores that TenantRoute', async () => {
    const { lab, host, route } = await labWithTakenHost();
    await using _ = lab;

    const { name } = route.metadata;
    await lab.change(RESOURCES.tenantRoute, name, { spec: { host: route.spec.host } });

    await lab.environment.pass(20_000);
    expect(lab.condition('red', 'Accepted')).toMatch(/^True/);
    expect(lab.apiHostsOf('red')).toEqual([host]);
  });
});
