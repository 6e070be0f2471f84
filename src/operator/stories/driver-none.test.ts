import { expect, setDefaultTimeout, test } from 'bun:test';
import type { TenantRouteSpec } from '../../api/tenant-route.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { freePort } from '../../net/testing/free-port.ts';
import { PROVIDER_RESOURCES } from '../../providers/provider-resources.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { LAB_EDGES } from '../testing/edges.ts';
import { objectOf } from '../testing/objects.ts';
import { TENANTS } from '../testing/namespaces.ts';
import { ALL_KINDS, OperatorLab } from '../testing/operator-lab.ts';
import {
  addK0smotron,
  addKamaji,
  REQUESTS_EDGE,
  startProvidedLab,
} from '../testing/provided-lab.ts';

setDefaultTimeout(240_000);

test('the user creates the route, and Snicket the proxies; a handshake proves the route', async () => {
  await using lab = await OperatorLab.start({
    hasSockets: true,
    probeMs: 5_000,
    edge: { driver: 'None', port: freePort() },
  });
  const { port, server, controllers } = await lab.addTenant('blue');
  await lab.expose('blue');

  const condition = await lab.untilCondition('blue', 'Routed', /^Unknown NoStatus/);
  expect(condition).toContain(
    `so you create the routes, with TLS passthrough: tenants-blue.k8s.example.test:`,
  );
  expect(condition).toContain(` to port ${port} of Service blue.`);
  await controllers.addNode('worker-1', ['10.0.0.1']);
  await lab.until('the proxies', () => server.read(RESOURCES.daemonSet, PROXY) !== undefined);
  expect(lab.management.read(RESOURCES.ingress, { name: 'snicket-blue', namespace: TENANTS })).toBe(
    undefined,
  );

  // The route: everything that arrives at this port goes to the tenant.
  await lab.applyEdge({ driver: 'None', port });

  const routed = await lab.untilCondition('blue', 'Routed', /^True/);
  expect(routed).toContain('A TLS handshake through the edge reaches the tenant.');
  expect(lab.routesOf('blue')).toMatchObject([{ host: 'tenants-blue.k8s.example.test' }]);
});

test('the route of the previous driver stays until the user deletes it', async () => {
  const { spec, objects } = LAB_EDGES.haproxy;
  const resources = ALL_KINDS;
  await using lab = await OperatorLab.start({ hasSockets: true, probeMs: 5_000, resources });
  lab.management.seed(...objects);
  const { port } = await lab.addTenant('blue');
  const addresses = ['127.0.0.1'];
  await lab.applyEdge({ ...spec, addresses, port });
  await lab.expose('blue');
  await lab.untilCondition('blue', 'Reachable', /^True/);

  // The handshake succeeds by the route of haproxy.
  await lab.applyEdge({ driver: 'None', addresses, port });
  const routed = await lab.untilCondition('blue', 'Routed', /^True.*PreviousRoutesRemain/);
  expect(routed).toContain('Ingress tenants/snicket-blue.haproxy');
  await lab.until('the TenantRoutes', () => lab.routesOf('blue').every(isOfDriverNone));
  await lab.untilReconciled(5);

  const key = { name: 'snicket-blue.haproxy', namespace: TENANTS };
  expect(lab.read(RESOURCES.ingress, key.name)).toBeDefined();
  await lab.user.delete(RESOURCES.ingress, key);

  await lab.until('no warning', () => !/Previous/.test(lab.condition('blue', 'Routed') ?? ''));
  expect(lab.read(RESOURCES.ingress, key.name)).toBeUndefined();
});

function isOfDriverNone({ driver }: TenantRouteSpec): boolean {
  return driver === 'None';
}

test('an ingress of the user in the object of a provider stays', async () => {
  await using lab = await startProvidedLab({
    edge: { driver: 'None' },
    resources: [...ALL_KINDS, ...Object.values(PROVIDER_RESOURCES)],
  });
  lab.management.seed(objectOf('IngressClass', { name: 'mine' }, { spec: { controller: 'mine' } }));
  const hosts = { apiHost: 'red.example.test', konnectivityHost: 'red-k.example.test' };
  await addK0smotron(lab, 'red', {
    'metadata.annotations': REQUESTS_EDGE,
    'spec.ingress': { ...hosts, deploy: true, className: 'mine', port: 443 },
  });
  await addKamaji(lab, 'blue', {
    'metadata.annotations': REQUESTS_EDGE,
    'spec.controlPlane.ingress': { hostname: 'blue.example.test:443', ingressClassName: 'mine' },
    'spec.addons.konnectivity': undefined,
  });

  for (const name of ['red', 'blue']) {
    const prepared = await lab.untilCondition(name, 'Prepared', /^True/);
    expect(prepared).not.toContain('Ingress');
    expect(lab.eventsOf(name)).not.toContain('ProviderFeatureConflict');
  }
  expect(lab.read(PROVIDER_RESOURCES.k0smotron, 'red')).toMatchObject({
    spec: { ingress: { ...hosts, deploy: true, className: 'mine' } },
  });
  expect(lab.read(PROVIDER_RESOURCES.kamaji, 'blue')).toMatchObject({
    spec: { controlPlane: { ingress: { ingressClassName: 'mine' } } },
  });
});

test('a provider creates no Ingress of its own for the hosts of Snicket', async () => {
  await using lab = await startProvidedLab({
    edge: { driver: 'None' },
    resources: [...ALL_KINDS, ...Object.values(PROVIDER_RESOURCES)],
  });
  await addK0smotron(lab, 'red', { 'metadata.annotations': REQUESTS_EDGE });
  await addKamaji(lab, 'blue', { 'metadata.annotations': REQUESTS_EDGE });

  await lab.untilCondition('red', 'Prepared', /^True/);
  await lab.untilCondition('blue', 'Prepared', /^True/);

  expect(lab.read(PROVIDER_RESOURCES.k0smotron, 'red')).toMatchObject({
    spec: { ingress: { deploy: false } },
  });
  expect(lab.read(PROVIDER_RESOURCES.kamaji, 'blue')).toMatchObject({
    spec: { controlPlane: { ingress: { ingressClassName: 'snicket-unhandled' } } },
  });
});
