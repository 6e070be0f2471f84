import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { RECORD_ANNOTATION } from '../../providers/preparation/record.ts';
import { PROVIDER_RESOURCES } from '../../providers/provider-resources.ts';
import { deploymentOf } from '../../providers/testing/provider-objects.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import {
  ANNOTATED,
  annotate,
  API_HOST,
  BLUE,
  KONNECTIVITY_HOST,
  shownIn,
  tenantIn,
} from '../testing/provided-control-planes.ts';
import { addKamaji, REQUESTS_EDGE, startProvidedLab } from '../testing/provided-lab.ts';

setDefaultTimeout(240_000);

const { kamaji: KAMAJI, deployment: DEPLOYMENT } = PROVIDER_RESOURCES;

describe.concurrent('a TenantControlPlane of Kamaji with one annotation', () => {
  test('is prepared, routed and reachable, and has proxies', async () => {
    await using lab = await startProvidedLab({ hasGateway: true, probeMs: 60_000 });
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
    expect(lab.routesOf('blue')).toMatchObject([
      { host: API_HOST, backend: { service: { name: 'blue', portName: 'kube-apiserver' } } },
    ]);
    expect(server.read(RESOURCES.daemonSet, PROXY)).toBeDefined();
  });

  test('is restored, field by field, when the annotation is removed', async () => {
    await using lab = await startProvidedLab();
    const { server } = await addKamaji(lab, 'blue');
    const before = shownIn(lab);
    await annotate(lab, 'shared');
    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    expect(tenantIn(lab)?.metadata.annotations).toEqual(REQUESTS_EDGE);
    expect(lab.exposure('blue')?.metadata.annotations).toHaveProperty([RECORD_ANNOTATION]);
    expect(tenantIn(lab)?.spec.networkProfile.certSANs).toEqual([API_HOST, KONNECTIVITY_HOST]);
    const konnectivity = lab.routesOf('blue').find(({ type }) => type === 'Konnectivity');
    expect(konnectivity).toMatchObject({
      host: KONNECTIVITY_HOST,
      backend: { service: { portName: 'konnectivity-server' } },
    });

    await annotate(lab, null);

    await lab.until('the Exposure is gone', () => lab.exposure('blue') === undefined);
    expect(shownIn(lab)).toEqual(before);
    expect(server.read(RESOURCES.daemonSet, PROXY)).toBeUndefined();
  });

  test('has no Exposure on an Edge that ignores annotations, and is cleaned up when the Edge is changed to', async () => {
    await using lab = await startProvidedLab({ resyncMs: 3_600_000 });
    await addKamaji(lab, 'blue');
    const before = tenantIn(lab)?.spec;
    await annotate(lab, 'shared');
    await lab.untilCondition('blue', 'WorkersReady', /^True/);

    await lab.applyEdge({ annotations: 'Ignored' });

    await lab.until('the Exposure is gone', () => lab.exposure('blue') === undefined);
    await lab.until('an event says so', () => lab.eventsOf('blue').includes('AnnotationIgnored'));
    expect(tenantIn(lab)?.spec).toEqual(before);

    await lab.applyEdge({ annotations: 'Allowed' });

    await lab.untilCondition('blue', 'WorkersReady', /^True/);
  });

  test('keeps its Exposure until its API server runs without the flag of Snicket', async () => {
    await using lab = await startProvidedLab();
    await addKamaji(lab, 'blue', ANNOTATED);
    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    const flag = '--endpoint-reconciler-type=none';
    lab.management.seed({ ...deploymentOf('blue', [flag]), metadata: BLUE });

    await annotate(lab, null);

    const waits = new RegExp(`^False CleaningUp: Deployment tenants/blue still runs with ${flag}`);
    await lab.untilCondition('blue', 'Ready', waits);

    const containers = [{ name: 'kube-apiserver', args: [] }];
    await lab.user.patch(DEPLOYMENT, BLUE, 'merge', {
      spec: { template: { spec: { containers } } },
    });

    await lab.until('the Exposure is gone', () => lab.exposure('blue') === undefined);
  });

  test('keeps its hosts while the requested Edge accepts no routes', async () => {
    await using lab = await startProvidedLab();
    await addKamaji(lab, 'blue', ANNOTATED);
    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    const { spec } = tenantIn(lab)!;
    const nowhere = { className: 'nobody' };
    await lab.applyEdge({ driver: 'haproxy', domain: 'other.test', ingress: nowhere }, 'other');

    await annotate(lab, 'other');

    await lab.untilCondition('blue', 'Routed', /^False/);
    expect(tenantIn(lab)?.spec).toEqual(spec);
  });

  test('has its Exposure created again after a deletion', async () => {
    await using lab = await startProvidedLab();
    await addKamaji(lab, 'blue', ANNOTATED);
    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    const { uid } = lab.exposure('blue')!.metadata;

    await lab.unexpose('blue');

    await lab.until('another Exposure', () => {
      const now = lab.exposure('blue')?.metadata.uid;
      return now !== undefined && now !== uid;
    });
    await lab.untilCondition('blue', 'WorkersReady', /^True/);
  });

  test('follows a change of the annotation', async () => {
    await using lab = await startProvidedLab();
    await lab.applyEdge({ domain: 'other.test' }, 'other');
    await addKamaji(lab, 'blue', ANNOTATED);
    await lab.untilCondition('blue', 'WorkersReady', /^True/);

    await annotate(lab, 'other');

    const host = 'tenants-blue.k8s.other.test';
    await lab.until('the other host', () => lab.apiHostsOf('blue').includes(host));
    const otherKonnectivity = 'tenants-blue.konnectivity.other.test';
    // No client uses the new Edge yet, so the objects of the previous one stay.
    expect(tenantIn(lab)?.spec.networkProfile.certSANs).toEqual([
      ...[host, otherKonnectivity, API_HOST, KONNECTIVITY_HOST],
    ]);
  });

  test('reports a missing Edge with the annotation, on both objects', async () => {
    await using lab = await startProvidedLab();
    const asks = { 'snicket.dev/edge': 'shraed' };

    await addKamaji(lab, 'blue', { 'metadata.annotations': asks });

    const condition = await lab.untilCondition('blue', 'Accepted', /^False EdgeNotFound/);
    expect(condition).toContain(
      'Create it, or correct the annotation snicket.dev/edge of TenantControlPlane tenants/blue (existing Edge: shared).',
    );
    const missing = () => lab.eventsOf('blue').filter((reason) => reason === 'EdgeNotFound');
    await lab.until(
      'an event for the Exposure and one for the tenant',
      () => missing().length === 2,
    );
  });

  test('does not take over an Exposure of a user, and reports it', async () => {
    await using lab = await startProvidedLab();
    await lab.addExposed('blue');
    const desired = () => {
      const { metadata, ...object } = lab.exposure('blue') as KubeObject & { spec?: object };
      const { uid, labels, annotations, ownerReferences, generation } = metadata;
      return { uid, labels, annotations, ownerReferences, generation, spec: object.spec };
    };
    const before = desired();

    // Another object of that name: only its annotation matters.
    await lab.user.apply(
      {
        apiVersion: KAMAJI.apiVersion,
        kind: KAMAJI.kind,
        metadata: { ...BLUE, annotations: REQUESTS_EDGE },
      },
      { resource: KAMAJI },
    );

    await lab.until('an event', () => lab.eventsOf('blue').includes('NameConflict'));
    expect(desired()).toEqual(before);
  });

  test('is cleaned up when it is deleted during preparation', async () => {
    await using lab = await startProvidedLab({ cleanupTimeoutMs: 600_000 });
    const { server } = await addKamaji(lab, 'blue', ANNOTATED);
    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    await server.goDown();

    await lab.user.delete(KAMAJI, BLUE);
    lab.management.collectGarbage();

    await lab.until('the Exposure is gone', () => lab.exposure('blue') === undefined);
    expect(tenantIn(lab)).toBeUndefined();
  });

  test('has a new Exposure when it is created again, once the previous one is gone', async () => {
    await using lab = await startProvidedLab();
    await addKamaji(lab, 'blue', ANNOTATED);
    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    // As from a backup: with the fields that were written to the previous one.
    const { metadata, ...previous } = tenantIn(lab)!;
    const { uid: _uid, resourceVersion: _version, managedFields: _fields, ...kept } = metadata;
    const runs = () => lab.number('reconciles_total', 'controller="shim"');

    await lab.user.delete(KAMAJI, BLUE);
    const before = runs();
    await lab.user.create(KAMAJI, { ...previous, metadata: kept });
    const uid = tenantIn(lab)?.metadata.uid;
    await lab.until('it is looked at', () => runs() > before);
    lab.management.collectGarbage();

    await lab.until(
      'its own',
      () => lab.exposure('blue')?.metadata.ownerReferences?.[0]?.uid === uid,
    );
    await lab.untilCondition('blue', 'Prepared', /^True/);
    expect(lab.eventsOf('blue')).not.toContain('NameConflict');
  });
});

describe.concurrent('a second operator', () => {
  test('finds everything up to date, and writes nothing', async () => {
    await using lab = await startProvidedLab({ resyncMs: 1_000 });
    await addKamaji(lab, 'blue', ANNOTATED);
    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    await lab.untilQuiet(10);
    await lab.stopOperator();
    const before = lab.writes();

    lab.startOperator();

    await lab.untilReconciled(10);
    expect(lab.writes()).toBe(before);
  });

  test('deletes the Exposure of an annotation that was removed while no operator ran', async () => {
    await using lab = await startProvidedLab();
    await addKamaji(lab, 'blue');
    const before = shownIn(lab);
    await annotate(lab, 'shared');
    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    await lab.stopOperator();
    await annotate(lab, null);

    lab.startOperator();

    await lab.until('the Exposure is gone', () => lab.exposure('blue') === undefined);
    expect(shownIn(lab)).toEqual(before);
  });
});
