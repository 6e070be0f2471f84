import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES, withVersion } from '../../kube/resource.ts';
import { RECORD_ANNOTATION } from '../../providers/preparation/record.ts';
import { PROVIDER_RESOURCES, versionsOf } from '../../providers/provider-resources.ts';
import {
  changed,
  clusterDeployment,
  deploymentOf,
  freshTenant,
  kubeconfigFor,
} from '../../providers/testing/provider-objects.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import { snapshotOf } from '../testing/objects.ts';
import { TENANTS } from '../testing/places.ts';
import { KINDS_OF_NO_EDGE, type OperatorLab } from '../testing/operator-lab.ts';
import {
  addK0smotron,
  addK0smotronControlPlane,
  addKamaji,
  ASKS,
  startProvidedLab,
} from '../testing/provided-lab.ts';
import { until } from '../testing/until.ts';

setDefaultTimeout(120_000);

const {
  kamaji: KAMAJI,
  steward: STEWARD,
  k0smotron: K0SMOTRON,
  deployment: DEPLOYMENT,
} = PROVIDER_RESOURCES;
const BLUE = { name: 'blue', namespace: TENANTS };
const API_HOST = 'tenants-blue.k8s.example.test';
const KONNECTIVITY_HOST = 'tenants-blue.konnectivity.example.test';
const DEPLOYMENT_OF_VIOLET = clusterDeployment('violet', 'openstack-hosted-cp-1-0-40');
const ANNOTATED = { 'metadata.annotations': ASKS };

interface Tenant extends KubeObject {
  readonly spec: {
    readonly controlPlane: { readonly ingress?: object; readonly deployment: object };
    readonly networkProfile: { readonly certSANs?: readonly string[] };
  };
}

function tenantIn(lab: OperatorLab): Tenant | undefined {
  return lab.management.read(KAMAJI, BLUE) as Tenant | undefined;
}

/** Without what changes at every write. */
function shown(object: KubeObject | undefined): unknown {
  const { generation: _, ...metadata } = object!.metadata;
  return snapshotOf([{ ...object!, metadata }]);
}

function shownIn(lab: OperatorLab): unknown {
  return shown(tenantIn(lab));
}

async function annotate(lab: OperatorLab, value: string | null): Promise<void> {
  const metadata = { annotations: { 'snicket.dev/edge': value } };
  await lab.user.patch(KAMAJI, BLUE, 'merge', { metadata });
}

describe.concurrent('a TenantControlPlane of Kamaji with one annotation', () => {
  test('is prepared, routed, given its proxies, and reached', async () => {
    await using lab = await startProvidedLab({ hasGateway: true, probeMs: 50 });
    // A small API server is no konnectivity-server.
    const without = { ...ANNOTATED, 'spec.addons.konnectivity': undefined };
    const { server, controllers } = await addKamaji(lab, 'blue', without);
    await controllers.addNode('worker-1', ['10.0.0.1']);

    await lab.untilCondition('blue', 'Ready', /^True/);

    expect(lab.exposure('blue')?.metadata.ownerReferences).toMatchObject([
      { kind: 'TenantControlPlane', name: 'blue', uid: tenantIn(lab)?.metadata.uid },
    ]);
    const port = lab.gateway?.port;
    expect(tenantIn(lab)?.spec).toMatchObject({
      controlPlane: {
        ingress: { hostname: `${API_HOST}:${port}`, ingressClassName: 'snicket-unhandled' },
        deployment: { extraArgs: { apiServer: ['--endpoint-reconciler-type=none'] } },
      },
      networkProfile: { certSANs: [API_HOST] },
    });
    expect(lab.statusOf('blue')?.route).toMatchObject({
      api: { host: API_HOST, service: 'blue', portName: 'kube-apiserver' },
    });
    expect(server.read(RESOURCES.daemonSet, PROXY)).toBeDefined();
  });

  test('is as before, field by field, when the annotation goes', async () => {
    await using lab = await startProvidedLab();
    const { server } = await addKamaji(lab, 'blue');
    const before = shownIn(lab);
    await annotate(lab, 'shared');
    await lab.untilCondition('blue', 'TenantReady', /^True/);
    expect(tenantIn(lab)?.metadata.annotations?.[RECORD_ANNOTATION]).toBeDefined();
    expect(tenantIn(lab)?.spec.networkProfile.certSANs).toEqual([API_HOST, KONNECTIVITY_HOST]);
    expect(lab.statusOf('blue')?.route?.konnectivity).toMatchObject({
      ...{ host: KONNECTIVITY_HOST, portName: 'konnectivity-server' },
    });

    await annotate(lab, null);

    await until('the Exposure is gone', () => lab.exposure('blue') === undefined);
    expect(shownIn(lab)).toEqual(before);
    expect(server.read(RESOURCES.daemonSet, PROXY)).toBeUndefined();
  });

  test('keeps its Exposure until its API server runs without our flag', async () => {
    await using lab = await startProvidedLab();
    await addKamaji(lab, 'blue', ANNOTATED);
    await lab.untilCondition('blue', 'TenantReady', /^True/);
    const flag = '--endpoint-reconciler-type=none';
    lab.management.seed({ ...deploymentOf('blue', [flag]), metadata: BLUE });

    await annotate(lab, null);

    const waits = new RegExp(`^False Leaving: Deployment tenants/blue still runs with ${flag}`);
    await lab.untilCondition('blue', 'Ready', waits);

    const containers = [{ name: 'kube-apiserver', args: [] }];
    await lab.user.patch(DEPLOYMENT, BLUE, 'merge', {
      spec: { template: { spec: { containers } } },
    });

    await until('the Exposure is gone', () => lab.exposure('blue') === undefined);
  });

  test('keeps the hosts that it knows while the Edge that is wished for takes no routes', async () => {
    await using lab = await startProvidedLab();
    await addKamaji(lab, 'blue', ANNOTATED);
    await lab.untilCondition('blue', 'TenantReady', /^True/);
    const { spec } = tenantIn(lab)!;
    const nowhere = { className: 'nobody' };
    await lab.applyEdge({ driver: 'haproxy', domain: 'other.test', ingress: nowhere }, 'other');

    await annotate(lab, 'other');

    await lab.untilCondition('blue', 'Routed', /^False/);
    expect(tenantIn(lab)?.spec).toEqual(spec);
  });

  test('has its Exposure again if somebody deletes that', async () => {
    await using lab = await startProvidedLab();
    await addKamaji(lab, 'blue', ANNOTATED);
    await lab.untilCondition('blue', 'TenantReady', /^True/);
    const { uid } = lab.exposure('blue')!.metadata;

    await lab.unexpose('blue');

    await until('another one', () => {
      const now = lab.exposure('blue')?.metadata.uid;
      return now !== undefined && now !== uid;
    });
    await lab.untilCondition('blue', 'TenantReady', /^True/);
  });

  test('follows a change of the annotation', async () => {
    await using lab = await startProvidedLab();
    await lab.applyEdge({ domain: 'other.test' }, 'other');
    await addKamaji(lab, 'blue', ANNOTATED);
    await lab.untilCondition('blue', 'TenantReady', /^True/);

    await annotate(lab, 'other');

    const host = 'tenants-blue.k8s.other.test';
    await until('the other host', () => lab.statusOf('blue')?.route?.api.host === host);
    const otherKonnectivity = 'tenants-blue.konnectivity.other.test';
    // Nobody has come to the new Edge yet: those of the former one stay.
    expect(tenantIn(lab)?.spec.networkProfile.certSANs).toEqual([
      ...[host, otherKonnectivity, API_HOST, KONNECTIVITY_HOST],
    ]);
  });

  test('says of an Edge that is not there that the annotation is wrong, to both', async () => {
    await using lab = await startProvidedLab();
    const asks = { 'snicket.dev/edge': 'shraed' };

    await addKamaji(lab, 'blue', { 'metadata.annotations': asks });

    const said = await lab.untilCondition('blue', 'Accepted', /^False EdgeNotFound/);
    expect(said).toContain(
      'correct the annotation snicket.dev/edge of TenantControlPlane tenants/blue (there is Edge shared)',
    );
    const told = () => lab.eventsOf('blue').filter((reason) => reason === 'EdgeNotFound');
    await until('an event for the Exposure and one for the tenant', () => told().length === 2);
  });

  test('does not take an Exposure of somebody else, and says so', async () => {
    await using lab = await startProvidedLab();
    await lab.addExposed('blue');
    const wish = () => {
      const { metadata, ...object } = lab.exposure('blue') as KubeObject & { spec?: object };
      const { uid, labels, annotations, ownerReferences, generation } = metadata;
      return { uid, labels, annotations, ownerReferences, generation, spec: object.spec };
    };
    const before = wish();

    // Another object of that name: only its annotation matters.
    await lab.user.apply(
      {
        ...{ apiVersion: KAMAJI.apiVersion, kind: KAMAJI.kind },
        metadata: { ...BLUE, annotations: ASKS },
      },
      { resource: KAMAJI },
    );

    await until('an event', () => lab.eventsOf('blue').includes('ExposureTaken'));
    expect(wish()).toEqual(before);
  });

  test('leaves nothing behind when it is deleted in the middle', async () => {
    await using lab = await startProvidedLab({ leaveTimeoutMs: 600_000 });
    const { server } = await addKamaji(lab, 'blue', ANNOTATED);
    await lab.untilCondition('blue', 'TenantReady', /^True/);
    await server.goDown();

    await lab.user.delete(KAMAJI, BLUE);
    lab.management.collectGarbage();

    await until('the Exposure is gone', () => lab.exposure('blue') === undefined);
    expect(tenantIn(lab)).toBeUndefined();
  });

  test('has an Exposure of its own when it is made anew, once that of the former one is gone', async () => {
    await using lab = await startProvidedLab();
    await addKamaji(lab, 'blue', ANNOTATED);
    await lab.untilCondition('blue', 'TenantReady', /^True/);
    // As a backup has it: with the record of what was written into the former one.
    const { metadata, ...former } = tenantIn(lab)!;
    const { uid: _uid, resourceVersion: _version, managedFields: _fields, ...kept } = metadata;
    const runs = () => lab.number('reconciles_total', 'controller="shim"');

    await lab.user.delete(KAMAJI, BLUE);
    const before = runs();
    await lab.user.create(KAMAJI, { ...former, metadata: kept });
    const uid = tenantIn(lab)?.metadata.uid;
    await until('it is looked at', () => runs() > before);
    lab.management.collectGarbage();

    await until('its own', () => lab.exposure('blue')?.metadata.ownerReferences?.[0]?.uid === uid);
    await lab.untilCondition('blue', 'Prepared', /^True/);
    expect(lab.eventsOf('blue')).not.toContain('ExposureTaken');
  });
});

describe.concurrent('an Exposure that names a TenantControlPlane', () => {
  const ref = { apiVersion: KAMAJI.apiVersion, kind: KAMAJI.kind, name: 'blue' };

  async function expose(lab: OperatorLab, spec: object = {}): Promise<void> {
    await lab.user.apply({
      ...{ apiVersion: RESOURCES.exposure.apiVersion, kind: 'Exposure', metadata: BLUE },
      spec: { edge: 'shared', controlPlane: { ref }, ...spec },
    } as KubeObject);
  }

  test('names the owner of a field that would have to change, and writes nothing', async () => {
    await using lab = await startProvidedLab();
    const { server } = await addKamaji(lab, 'blue', {
      'spec.networkProfile.certSANs': ['blue.example.test'],
    });
    const before = shownIn(lab);

    await expose(lab);

    const said = await lab.untilCondition('blue', 'Prepared', /^False FieldConflict/);
    expect(said).toContain('user owns .spec.networkProfile.certSANs');
    expect(shownIn(lab)).toEqual(before);
    expect(lab.condition('blue', 'Routed')).toStartWith('True');
    expect(lab.condition('blue', 'TenantReady')).toStartWith('Unknown NotPrepared');
    expect(server.read(RESOURCES.daemonSet, PROXY)).toBeUndefined();

    await expose(lab, { prepare: 'Force' });

    await lab.untilCondition('blue', 'TenantReady', /^True/);
    expect(tenantIn(lab)?.spec.networkProfile.certSANs).toEqual([
      ...['blue.example.test', API_HOST, KONNECTIVITY_HOST],
    ]);
  });

  test('says how to keep a host that the object has already, and keeps it then', async () => {
    await using lab = await startProvidedLab();
    const ingress = { hostname: 'own.example.org:443' };
    await addKamaji(lab, 'blue', { 'spec.controlPlane.ingress': ingress });
    const hint = 'to keep what is there, write spec.hosts.api: own.example.org in the Exposure';

    await expose(lab, { prepare: 'Report' });
    expect(await lab.untilCondition('blue', 'Prepared', /PreparationWanted/)).toContain(hint);
    await expose(lab);
    expect(await lab.untilCondition('blue', 'Prepared', /FieldConflict/)).toContain(hint);
    await expose(lab, { hosts: { api: 'own.example.org' } });

    await lab.untilCondition('blue', 'TenantReady', /^True/);
    expect(tenantIn(lab)?.spec.controlPlane.ingress).toMatchObject(ingress);
  });

  test('with prepare: Report touches nothing and names all fields', async () => {
    await using lab = await startProvidedLab();
    await addKamaji(lab, 'blue');
    const before = tenantIn(lab);

    await expose(lab, { prepare: 'Report' });

    const said = await lab.untilCondition('blue', 'Prepared', /^False PreparationWanted/);
    for (const field of ['ingress.hostname', 'ingress.ingressClassName', 'certSANs', 'extraArgs']) {
      expect(said).toContain(field);
    }
    expect(said).toContain('snicket render');
    expect(tenantIn(lab)).toEqual(before);

    await lab.user.apply(
      {
        ...{ apiVersion: KAMAJI.apiVersion, kind: KAMAJI.kind, metadata: BLUE },
        spec: {
          ...(before?.spec as object),
          controlPlane: {
            ...before?.spec.controlPlane,
            ingress: { hostname: `${API_HOST}:443`, ingressClassName: 'snicket-unhandled' },
            deployment: {
              replicas: 2,
              extraArgs: { apiServer: ['--endpoint-reconciler-type=none'] },
            },
          },
          networkProfile: {
            ...before?.spec.networkProfile,
            certSANs: [API_HOST, KONNECTIVITY_HOST],
          },
          addons: {
            konnectivity: {
              agent: {
                extraArgs: [`--proxy-server-host=${KONNECTIVITY_HOST}`, '--proxy-server-port=443'],
              },
            },
          },
        },
      } as KubeObject,
      { resource: KAMAJI, force: true },
    );

    await lab.untilCondition('blue', 'TenantReady', /^True/);
    expect(tenantIn(lab)?.metadata.annotations ?? {}).not.toHaveProperty([RECORD_ANNOTATION]);
  });

  test('waits for a TenantControlPlane that comes later', async () => {
    await using lab = await startProvidedLab();

    await expose(lab);

    await lab.untilCondition('blue', 'Prepared', /^False ControlPlaneMissing/);

    await addKamaji(lab, 'blue');

    await lab.untilCondition('blue', 'TenantReady', /^True/);
  });

  test('says that kubeconfigs still lead elsewhere, and is content nevertheless', async () => {
    await using lab = await startProvidedLab({ resyncMs: 100 });
    const { kubeconfig } = await addKamaji(lab, 'blue');
    const old = kubeconfigFor('https://10.0.0.7:6443');
    await lab.changeSecret('blue-admin-kubeconfig', {
      ...{ 'admin.conf': old, 'super-admin.svc': kubeconfig },
    });

    await expose(lab);

    const said = await lab.untilCondition('blue', 'Prepared', /KubeconfigLeadsElsewhere/);
    expect(said).toStartWith('True');
    expect(said).toContain('https://10.0.0.7:6443');
    expect(said).toContain('kubectl delete -n tenants secret blue-admin-kubeconfig');
  });

  test('puts back what somebody takes away, and comes to rest', async () => {
    await using lab = await startProvidedLab({ resyncMs: 50 });
    await addKamaji(lab, 'blue');
    await expose(lab);
    await lab.untilCondition('blue', 'TenantReady', /^True/);

    await lab.user.patch(KAMAJI, BLUE, 'merge', { spec: { controlPlane: { ingress: null } } });

    await until('the host is back', () => tenantIn(lab)?.spec.controlPlane.ingress !== undefined);
    await lab.untilQuiet(10);
  });
});

test('a Cluster of k0smotron is patched by its annotation, and is as before without it', async () => {
  await using lab = await startProvidedLab();
  await addK0smotron(lab, 'red');
  const red = { name: 'red', namespace: TENANTS };
  const now = () => shown(lab.management.read(K0SMOTRON, red));
  const before = now();
  const annotated = async (value: string | null) =>
    lab.user.patch(K0SMOTRON, red, 'merge', {
      metadata: { annotations: { 'snicket.dev/edge': value } },
    });

  await annotated('shared');

  await lab.untilCondition('red', 'TenantReady', /^True/);
  expect(lab.management.read(K0SMOTRON, red)).toMatchObject({
    spec: { ingress: { apiHost: 'tenants-red.k8s.example.test', deploy: false } },
  });
  expect(lab.statusOf('red')?.route?.api).toMatchObject({ service: 'kmc-red', portName: 'api' });

  await annotated(null);

  await until('the Exposure is gone', () => lab.exposure('red') === undefined);
  expect(now()).toEqual(before);
});

test('a Secret that cannot be read, or cannot be, keeps no control plane from being put back', async () => {
  await using lab = await startProvidedLab({ leaveTimeoutMs: 4_000, resyncMs: 50 });
  await addK0smotron(lab, 'red', ANNOTATED);
  const red = { name: 'red', namespace: TENANTS };
  await lab.untilCondition('red', 'TenantReady', /^True/);

  const certificateRefs = [{ type: 'ca', name: '..' }];
  await lab.user.patch(K0SMOTRON, red, 'merge', { spec: { certificateRefs } });
  await lab.untilCondition(
    'red',
    'Prepared',
    /^False SecretMissing: there is no Secret tenants\/\.\./,
  );
  lab.management.inject(
    { kind: 'answer', status: 403, reason: 'Forbidden' },
    { verb: 'get', plural: 'secrets' },
    Number.POSITIVE_INFINITY,
  );
  await lab.user.patch(K0SMOTRON, red, 'merge', {
    metadata: { annotations: { 'snicket.dev/edge': null } },
  });

  await until('the Exposure is gone', () => lab.exposure('red') === undefined);
  expect(lab.management.read(K0SMOTRON, red)).not.toMatchObject({ spec: { ingress: {} } });
  expect(lab.eventsOf('red')).not.toContain('ControlPlaneLeftPrepared');
});

test('a control plane that is served in an older version only is prepared in that one', async () => {
  const older = Object.values(PROVIDER_RESOURCES).map((kind) => versionsOf(kind).at(-1)!);
  await using lab = await startProvidedLab({ resources: [...KINDS_OF_NO_EDGE, ...older] });
  await addK0smotronControlPlane(lab, 'amber', 'v1beta1', ANNOTATED);

  const said = await lab.untilCondition('amber-cp', 'Prepared', /^True/);

  expect(said).toContain('K0smotronProxyStays');
  await lab.untilCondition('amber-cp', 'TenantReady', /^True/);
  const resource = withVersion(PROVIDER_RESOURCES.k0smotronControlPlane, 'v1beta1');
  expect(lab.read(resource, 'amber-cp')).toMatchObject({
    spec: { ingress: { apiHost: 'tenants-amber-cp.k8s.example.test', deploy: false } },
  });
});

test('a provider whose objects cannot be listed holds up nobody else', async () => {
  await using lab = await startProvidedLab({ isOperatorRunning: false });
  const broken = { kind: 'answer', status: 500, reason: 'InternalError' } as const;
  const target = { verb: 'list', plural: K0SMOTRON.plural };
  lab.management.inject(broken, target, Number.POSITIVE_INFINITY);
  await addK0smotron(lab, 'red', ANNOTATED);
  await addKamaji(lab, 'blue', ANNOTATED);
  await lab.user.apply({
    ...{ apiVersion: RESOURCES.exposure.apiVersion, kind: 'Exposure' },
    metadata: { name: 'red', namespace: TENANTS },
    spec: {
      edge: 'shared',
      controlPlane: { ref: { apiVersion: K0SMOTRON.apiVersion, kind: 'Cluster', name: 'red' } },
    },
  } as KubeObject);

  lab.startOperator();

  await lab.untilCondition('blue', 'TenantReady', /^True/);
  // Each of them can be read nevertheless.
  await lab.untilCondition('red', 'TenantReady', /^True/);
});

test('a ClusterDeployment of k0rdent is prepared with its control plane, and both are put back', async () => {
  await using lab = await startProvidedLab();
  const { clusterDeployment: resource, k0smotronControlPlane } = PROVIDER_RESOURCES;
  await addK0smotronControlPlane(lab, 'violet', 'v1beta2');
  const { uid: _uid, resourceVersion: _version, ...metadata } = DEPLOYMENT_OF_VIOLET.metadata;
  await lab.user.apply({ ...DEPLOYMENT_OF_VIOLET, metadata }, { resource });
  const both = () => [
    shown(lab.read(resource, 'violet')),
    shown(lab.read(k0smotronControlPlane, 'violet-cp')),
  ];
  const before = both();
  const annotated = async (value: string | null) =>
    lab.change(resource, 'violet', { metadata: { annotations: { 'snicket.dev/edge': value } } });

  await annotated('shared');

  await lab.untilCondition('violet', 'TenantReady', /^True/);
  const apiHost = 'tenants-violet.k8s.example.test';
  expect(lab.read(resource, 'violet')).toMatchObject({
    spec: { config: { ingress: { apiHost } } },
  });
  expect(lab.read(k0smotronControlPlane, 'violet-cp')).toMatchObject({
    spec: { externalAddress: apiHost },
  });

  await annotated(null);

  await until('the Exposure is gone', () => lab.exposure('violet') === undefined);
  expect(both()).toEqual(before);
});

describe.concurrent('a second operator', () => {
  test('finds all as it should be, and writes nothing', async () => {
    await using lab = await startProvidedLab({ resyncMs: 50 });
    await addKamaji(lab, 'blue', ANNOTATED);
    await lab.untilCondition('blue', 'TenantReady', /^True/);
    await lab.untilQuiet(10);
    await lab.stopOperator();
    const before = lab.writes();

    lab.startOperator();

    await lab.untilLookedAt(10);
    expect(lab.writes()).toBe(before);
  });

  test('deletes the Exposure of an annotation that went while there was none', async () => {
    await using lab = await startProvidedLab();
    await addKamaji(lab, 'blue');
    const before = shownIn(lab);
    await annotate(lab, 'shared');
    await lab.untilCondition('blue', 'TenantReady', /^True/);
    await lab.stopOperator();
    await annotate(lab, null);

    lab.startOperator();

    await until('the Exposure is gone', () => lab.exposure('blue') === undefined);
    expect(shownIn(lab)).toEqual(before);
  });
});

test('what a tenant of Steward says of its proxy is in its Exposure, and stays there when that proxy goes', async () => {
  await using lab = await startProvidedLab();
  const { apiVersion, kind } = STEWARD;
  const green = { name: 'green', namespace: TENANTS };
  const { spec } = freshTenant('steward', 'green');
  const hostAliases = [{ ip: '192.0.2.50', hostnames: ['green.k8s.example.test'] }];
  const tcpProxy = { hostAliases, resources: { limits: { memory: '192Mi' } } };
  const worker = () => (lab.exposure('green') as { spec?: { worker?: object } })?.spec?.worker;
  const tenant = { apiVersion, kind, metadata: { ...green, annotations: ASKS }, spec };
  await lab.user.apply(changed(tenant, { 'spec.addons.tcpProxy': tcpProxy }), {
    resource: STEWARD,
  });
  await lab.untilCondition('green', 'Prepared', /^False StewardProxyOn/);
  expect(worker()).toMatchObject(tcpProxy);

  await lab.user.apply(tenant, { resource: STEWARD });

  await lab.untilCondition('green', 'Prepared', /^False (?!StewardProxyOn)/);
  expect(worker()).toMatchObject(tcpProxy);
});
