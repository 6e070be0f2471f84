import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { RESOURCES } from '../../kube/resource.ts';
import { PROVIDER_RESOURCES } from '../../providers/provider-resources.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { LAB_EDGES } from '../testing/edges.ts';
import { OperatorLab } from '../testing/operator-lab.ts';
import { secretOf } from '../testing/objects.ts';
import { addKamaji, REQUESTS_EDGE, startProvidedLab } from '../testing/provided-lab.ts';
import { TENANTS } from '../testing/namespaces.ts';

setDefaultTimeout(240_000);

/** Secrets are not watched. */
const RESYNC = { resyncMs: 1_000 };

/** By type: its host and backend. Undefined if there is none. */
function route(lab: OperatorLab): Readonly<Record<string, object>> | undefined {
  const routes = lab.routesOf('blue').map(({ type, host, backend: { service } }) => {
    const { name, ...port } = service;
    return [type === 'API' ? 'api' : 'konnectivity', { host, service: name, ...port }] as const;
  });
  return routes.length === 0 ? undefined : Object.fromEntries(routes);
}

describe.concurrent('an incomplete control plane', () => {
  test('waits for a Service that is created later', async () => {
    await using lab = await OperatorLab.start();
    const { port } = await lab.addTenant('blue');
    const service = { name: 'later', apiPort: port };
    const [caSecretRef, kubeconfigSecretRef] = [{ name: 'blue-ca' }, { name: 'blue-kubeconfig' }];
    await lab.expose('blue', {
      controlPlane: { type: 'Service', service, caSecretRef, kubeconfigSecretRef },
    });

    const condition = await lab.untilCondition('blue', 'Prepared', /^False ServiceMissing/);

    expect(condition).toContain('Service tenants/later does not exist.');
    expect(lab.condition('blue', 'Routed')).toStartWith('Unknown WaitingForCondition');

    const { apiVersion, kind } = RESOURCES.service;
    const spec = { clusterIP: '127.0.0.1', clusterIPs: ['127.0.0.1'], ports: [{ port }] };
    const metadata = { name: 'later', namespace: TENANTS };
    await lab.user.create(RESOURCES.service, { apiVersion, kind, metadata, spec } as never);

    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    expect(route(lab)).toEqual({
      api: { host: 'tenants-blue.k8s.example.test', service: 'later', port },
    });
  });

  test('keeps its route when the Service is deleted or loses its port', async () => {
    await using lab = await OperatorLab.start({ edge: LAB_EDGES.traefik.spec });
    await lab.addExposed('blue');
    const before = route(lab);
    const written = lab.read(RESOURCES.ingressRouteTcp, 'snicket-blue');

    const ports = [{ name: 'other', port: 1234 }];
    await lab.change(RESOURCES.service, 'blue', { spec: { ports } });

    const condition = await lab.untilCondition('blue', 'Prepared', /^False ServiceInvalid/);
    expect(condition).toContain('(it has 1234)');
    expect(route(lab)).toEqual(before);

    await lab.user.delete(RESOURCES.service, { name: 'blue', namespace: TENANTS });

    await lab.untilCondition('blue', 'Prepared', /^False ServiceMissing/);
    expect(route(lab)).toEqual(before);
    expect(lab.read(RESOURCES.ingressRouteTcp, 'snicket-blue')).toEqual(written);
    expect(lab.condition('blue', 'Ready')).toStartWith('False ServiceMissing');
  });

  test('follows a Service whose port changes', async () => {
    await using lab = await OperatorLab.start();
    const { port } = await lab.addExposed('blue');
    const ports = [
      { name: 'renamed', port },
      { name: 'agents', port: 8132 },
    ];

    await lab.change(RESOURCES.service, 'blue', { spec: { ports } });

    await lab.until('the name of the port', () =>
      Bun.deepEquals(route(lab), {
        api: {
          host: 'tenants-blue.k8s.example.test',
          service: 'blue',
          port,
          portName: 'renamed',
        },
      }),
    );

    const service = { name: 'blue', apiPort: port, konnectivityPort: 8132 };
    const [caSecretRef, kubeconfigSecretRef] = [{ name: 'blue-ca' }, { name: 'blue-kubeconfig' }];
    await lab.expose('blue', {
      controlPlane: { type: 'Service', service, caSecretRef, kubeconfigSecretRef },
    });

    await lab.until('konnectivity is routed too', () =>
      Bun.deepEquals(route(lab)?.konnectivity, {
        host: 'tenants-blue.konnectivity.example.test',
        service: 'blue',
        port: 8132,
        portName: 'agents',
      }),
    );
  });

  test('waits for Secrets that are created later, but not with the route', async () => {
    await using lab = await OperatorLab.start(RESYNC);
    const { authority, kubeconfig } = await lab.addTenant('blue');
    const at = (name: string) => ({ name, namespace: TENANTS });
    await lab.user.delete(RESOURCES.secret, at('blue-ca'));
    await lab.user.delete(RESOURCES.secret, at('blue-kubeconfig'));

    await lab.expose('blue');

    await lab.untilCondition('blue', 'Prepared', /^False SecretMissing.*tenants\/blue-ca/);
    expect(route(lab)).toBeDefined();
    expect(lab.condition('blue', 'Routed')).toStartWith('True');
    await lab.untilCondition('blue', 'WorkersReady', /^False SecretMissing/);

    const wrongEntry = secretOf(at('blue-ca'), { 'ca.pem': authority.certificate });
    await lab.user.create(RESOURCES.secret, wrongEntry);

    const condition = await lab.untilCondition('blue', 'Prepared', /^False SecretInvalid/);
    expect(condition).toContain("has no entry 'tls.crt' (it has ca.pem)");

    await lab.changeSecret('blue-ca', { 'tls.crt': authority.certificate });
    await lab.untilCondition('blue', 'Prepared', /^False SecretMissing.*blue-kubeconfig/);
    const files = { 'admin.conf': kubeconfig };
    await lab.user.create(RESOURCES.secret, secretOf(at('blue-kubeconfig'), files));

    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    expect(lab.condition('blue', 'Prepared')).toStartWith('True Prepared');
  });

  test('reports an invalid kubeconfig', async () => {
    await using lab = await OperatorLab.start(RESYNC);
    const { kubeconfig } = await lab.addTenant('blue');
    await lab.changeSecret('blue-kubeconfig', { 'admin.conf': 'apiVersion: v1\nkind: Config\n' });

    await lab.expose('blue');

    await lab.untilCondition('blue', 'WorkersReady', /^False KubeconfigInvalid/);
    expect(route(lab)).toBeDefined();

    await lab.changeSecret('blue-kubeconfig', {
      'admin.conf': kubeconfig.replace(/token: .*/, 'token: of-somebody-else'),
    });

    await lab.untilCondition('blue', 'WorkersReady', /^False TenantUnauthorized.*401/);

    await lab.changeSecret('blue-kubeconfig', { 'admin.conf': kubeconfig });

    await lab.untilCondition('blue', 'WorkersReady', /^True/);
  });

  test('does not need the CA key for passthrough, but needs it to terminate TLS', async () => {
    await using lab = await OperatorLab.start({ ...RESYNC, edge: LAB_EDGES.traefik.spec });
    const { server, authority } = await lab.addTenant('blue');
    await lab.change(RESOURCES.secret, 'blue-ca', { data: { 'tls.key': null } });

    await lab.expose('blue');

    await lab.untilCondition('blue', 'WorkersReady', /^False CaKeyMissing/);
    expect(lab.condition('blue', 'Prepared')).toStartWith('True');
    expect(server.read(RESOURCES.daemonSet, PROXY)).toBeUndefined();

    await lab.changeSecret('blue-ca', { 'tls.key': authority.key });

    await lab.untilCondition('blue', 'WorkersReady', /^True/);

    await lab.applyEdge();
    await lab.change(RESOURCES.secret, 'blue-ca', { data: { 'tls.key': null } });

    await lab.until('Passthrough', () => lab.statusOf('blue')?.mode === 'Passthrough');
    await lab.untilCondition('blue', 'WorkersReady', /^True/);
  });

  test('reports a missing kubeconfig, and not a CA key that passthrough does not need', async () => {
    await using lab = await startProvidedLab(RESYNC);
    await addKamaji(lab, 'blue');
    await lab.change(PROVIDER_RESOURCES.kamaji, 'blue', {
      metadata: { annotations: REQUESTS_EDGE },
    });
    await lab.untilCondition('blue', 'WorkersReady', /^True/);

    await lab.change(RESOURCES.secret, 'blue-ca', { data: { 'ca.key': null } });
    const kubeconfig = { name: 'blue-admin-kubeconfig', namespace: TENANTS };
    await lab.user.delete(RESOURCES.secret, kubeconfig);

    await lab.untilCondition('blue', 'WorkersReady', /^False SecretMissing/);
  });

  test('reports an invalid CA', async () => {
    await using lab = await OperatorLab.start({ ...RESYNC, edge: LAB_EDGES.traefik.spec });
    const { authority } = await lab.addTenant('blue');
    await lab.changeSecret('blue-ca', { 'tls.key': 'no key' });

    await lab.expose('blue');

    await lab.untilCondition('blue', 'WorkersReady', /^False Ca/);

    await lab.changeSecret('blue-ca', { 'tls.key': authority.key });

    await lab.untilCondition('blue', 'WorkersReady', /^True/);
  });

  test('reports an unknown provider', async () => {
    await using lab = await OperatorLab.start();
    await lab.addTenant('blue');
    const objectRef = { group: 'example.test', kind: 'HostedControlPlane', name: 'a' };

    await lab.expose('blue', { controlPlane: { type: 'Object', objectRef } });

    await lab.untilCondition('blue', 'Prepared', /^False ProviderUnknown/);
  });
});
