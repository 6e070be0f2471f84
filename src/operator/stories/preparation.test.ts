import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { connect } from 'node:tls';
import { valueAt } from '../../kube/unstructured.ts';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { PROVIDER_RESOURCES } from '../../providers/provider-resources.ts';
import type { DaemonSetWithStatus } from '../../tenant/proxy-addresses.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import type { LabTenant } from '../testing/lab-tenant.ts';
import type { OperatorLab } from '../testing/operator-lab.ts';
import { TENANTS } from '../testing/namespaces.ts';
import { addKamaji, startProvidedLab } from '../testing/provided-lab.ts';

setDefaultTimeout(240_000);

const { kamaji: KAMAJI } = PROVIDER_RESOURCES;
const BLUE = { name: 'blue', namespace: TENANTS };
const API_HOST = 'tenants-blue.k8s.example.test';
/** Another that the certificate of a tenant of the lab has. */
const OTHER_HOST = 'blue.tenants.svc';
const BOTH_HOSTS = { allowedHosts: ['*.example.test', OTHER_HOST] };
/** A small API server is no konnectivity-server. */
const NO_KONNECTIVITY = { 'spec.addons.konnectivity': undefined };

async function expose(lab: OperatorLab, spec: object = {}): Promise<void> {
  const objectRef = { group: 'kamaji.clastix.io', kind: KAMAJI.kind, name: 'blue' };
  await lab.user.apply({
    apiVersion: RESOURCES.exposure.apiVersion,
    kind: 'Exposure',
    metadata: BLUE,
    spec: { edgeRef: { name: 'shared' }, controlPlane: { type: 'Object', objectRef }, ...spec },
  } as KubeObject);
}

/** The hosts that are in the certificate of the control plane. */
function certificateNames(lab: OperatorLab): unknown {
  return valueAt(lab.management.read(KAMAJI, BLUE), 'spec', 'networkProfile', 'certSANs');
}

/** Another field manager takes over the hosts, with their previous values. */
async function takeNames(lab: OperatorLab): Promise<void> {
  const networkProfile = { certSANs: ['his.example.test'] };
  await lab.user.patch(KAMAJI, BLUE, 'merge', { spec: { networkProfile } });
}

/** Deletes what is on the workers, which has to come back. */
async function loseProxies(lab: OperatorLab, { server, user }: LabTenant): Promise<void> {
  const { uid } = server.read(RESOURCES.daemonSet, PROXY)!.metadata;
  await user.delete(RESOURCES.daemonSet, PROXY);
  await lab.until('the proxies are back', () => {
    const now = server.read(RESOURCES.daemonSet, PROXY)?.metadata.uid;
    return now !== undefined && now !== uid;
  });
}

/** The configuration of the proxies, which contains the host. */
function proxyArguments({ server }: LabTenant): string {
  const set = server.read(RESOURCES.daemonSet, PROXY) as DaemonSetWithStatus | undefined;
  return JSON.stringify(set?.spec.template.spec);
}

/** Whether a client that asks the gateway for a host meets the tenant. */
async function leads(lab: OperatorLab, { authority }: LabTenant, host: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({
    host: '127.0.0.1',
    port: lab.gateway!.port,
    servername: host,
    ca: authority.certificate,
  });
  socket.on('secureConnect', () => resolve(true)).on('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}

/** Waits until one does. */
async function untilLed(lab: OperatorLab, tenant: LabTenant, host: string): Promise<void> {
  const end = performance.now() + 30_000;
  while (!(await leads(lab, tenant, host))) {
    if (performance.now() > end) throw new Error(`${host} does not point to the tenant`);
    // The gateway gathers changes for a moment.
    await lab.environment.pass(50);
  }
}

describe.concurrent('a tenant in use whose control plane is no longer prepared', () => {
  test('is reconciled while another field manager owns a field', async () => {
    await using lab = await startProvidedLab();
    const tenant = await addKamaji(lab, 'blue', NO_KONNECTIVITY);
    await expose(lab);
    await lab.untilCondition('blue', 'WorkersReady', /^True/);

    await takeNames(lab);
    await lab.untilCondition(
      'blue',
      'Prepared',
      /^False FieldConflict: Field manager user owns .*certSANs/,
    );
    await loseProxies(lab, tenant);

    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    expect(lab.condition('blue', 'Ready')).toStartWith('False FieldConflict');
  });

  test('is reconciled with prepare: Report too', async () => {
    await using lab = await startProvidedLab();
    const tenant = await addKamaji(lab, 'blue', NO_KONNECTIVITY);
    await expose(lab);
    await lab.untilCondition('blue', 'WorkersReady', /^True/);

    await expose(lab, { prepare: 'Report' });
    await takeNames(lab);
    await lab.untilCondition('blue', 'Prepared', /^False PreparationRequired/);
    await loseProxies(lab, tenant);

    await lab.untilCondition('blue', 'WorkersReady', /^True/);
  });

  test('is reconciled while its provider\u2019s objects can be neither read nor written', async () => {
    await using lab = await startProvidedLab({ resyncMs: 1_000 });
    const tenant = await addKamaji(lab, 'blue', NO_KONNECTIVITY);
    await expose(lab);
    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    const broken = { kind: 'error', status: 500, reason: 'InternalError' } as const;
    const fail = (verb: string) =>
      lab.management.inject(broken, { verb, plural: KAMAJI.plural }, Number.POSITIVE_INFINITY);

    // A write is due, and cannot be done.
    await lab.user.patch(KAMAJI, BLUE, 'merge', { spec: { controlPlane: { ingress: null } } });
    fail('get');
    fail('patch');
    await lab.untilCondition('blue', 'Prepared', /^False (ManagementUnavailable|FieldConflict)/);
    await loseProxies(lab, tenant);

    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    await lab.untilCondition('blue', 'Prepared', /^False ManagementUnavailable/);

    lab.management.clearFaults();

    await lab.untilCondition('blue', 'Prepared', /^True/);
  });

  test('does not use a host that its control plane may not be prepared for', async () => {
    await using lab = await startProvidedLab({ resyncMs: 1_000, edge: BOTH_HOSTS });
    const tenant = await addKamaji(lab, 'blue', NO_KONNECTIVITY);
    await expose(lab);
    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    const before = proxyArguments(tenant);
    await takeNames(lab);
    await lab.untilCondition('blue', 'Prepared', /^False FieldConflict/);

    await expose(lab, { hosts: { api: OTHER_HOST } });

    await lab.until('the other host is routed', () => lab.apiHostsOf('blue').includes(OTHER_HOST));
    await lab.untilReconciled(5);
    expect(proxyArguments(tenant)).toBe(before);
    expect(lab.apiHostsOf('blue')).toContain(API_HOST);
  });
});

describe.concurrent('a tenant that moves to another host', () => {
  test('has both in its certificate, and routes for both, until the move is complete', async () => {
    await using lab = await startProvidedLab({
      hasGateway: true,
      probeMs: 60_000,
      resyncMs: 600_000,
      edge: BOTH_HOSTS,
    });
    const tenant = await addKamaji(lab, 'blue', NO_KONNECTIVITY);
    await tenant.controllers.addNode('worker-1', ['10.0.0.1']);
    await expose(lab);
    await lab.untilCondition('blue', 'Ready', /^True/);
    tenant.controllers.pause();

    await expose(lab, { hosts: { api: OTHER_HOST } });

    await lab.untilCondition('blue', 'WorkersReady', /^False ProxiesNotObserved/);
    expect(certificateNames(lab)).toEqual([OTHER_HOST, API_HOST]);
    expect(lab.apiHostsOf('blue').toSorted()).toEqual([API_HOST, OTHER_HOST].toSorted());
    await untilLed(lab, tenant, OTHER_HOST);
    await untilLed(lab, tenant, API_HOST);

    tenant.controllers.resume();

    await lab.untilCondition('blue', 'Ready', /^True/);
    await lab.until('the previous host is gone', () =>
      Bun.deepEquals(certificateNames(lab), [OTHER_HOST]),
    );
    expect(lab.apiHostsOf('blue')).toEqual([OTHER_HOST]);
  });

  test('has the host of the previous Edge in its certificate too', async () => {
    await using lab = await startProvidedLab();
    await lab.applyEdge({ domain: 'other.test' }, 'other');
    await addKamaji(lab, 'blue', NO_KONNECTIVITY);
    await expose(lab);
    await lab.untilCondition('blue', 'WorkersReady', /^True/);

    await expose(lab, { edgeRef: { name: 'other' } });

    const host = 'tenants-blue.k8s.other.test';
    await lab.until('the other host', () => lab.apiHostsOf('blue').includes(host));
    await lab.untilCondition('blue', 'Prepared', /^True/);
    expect(certificateNames(lab)).toEqual([host, API_HOST]);
    const routed = lab.routesOf('blue').map((route) => `${route.edgeRef.name} ${route.host}`);
    expect(routed.toSorted()).toEqual([`other ${host}`, `shared ${API_HOST}`]);
  });
});
