import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { KubeObject } from '../../kube/object.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { RECORD_ANNOTATION } from '../../providers/preparation/record.ts';
import { PROVIDER_RESOURCES } from '../../providers/provider-resources.ts';
import { kubeconfigFor } from '../../providers/testing/provider-objects.ts';
import { PROXY } from '../../tenant/proxy-names.ts';
import type { OperatorLab } from '../testing/operator-lab.ts';
import {
  API_HOST,
  BLUE,
  KONNECTIVITY_HOST,
  shownIn,
  tenantIn,
} from '../testing/provided-control-planes.ts';
import { addKamaji, startProvidedLab } from '../testing/provided-lab.ts';

setDefaultTimeout(240_000);

const { kamaji: KAMAJI } = PROVIDER_RESOURCES;

describe.concurrent('an Exposure that names a TenantControlPlane', () => {
  const objectRef = { group: 'kamaji.clastix.io', kind: KAMAJI.kind, name: 'blue' };

  async function expose(lab: OperatorLab, spec: object = {}): Promise<void> {
    await lab.user.apply({
      apiVersion: RESOURCES.exposure.apiVersion,
      kind: 'Exposure',
      metadata: BLUE,
      spec: { edgeRef: { name: 'shared' }, controlPlane: { type: 'Object', objectRef }, ...spec },
    } as KubeObject);
  }

  test('reports the owner of a field that has to change, and writes nothing', async () => {
    await using lab = await startProvidedLab();
    const { server } = await addKamaji(lab, 'blue', {
      'spec.networkProfile.certSANs': ['blue.example.test'],
    });
    const before = shownIn(lab);

    await expose(lab);

    const condition = await lab.untilCondition('blue', 'Prepared', /^False FieldConflict/);
    expect(condition).toContain('user owns .spec.networkProfile.certSANs');
    expect(shownIn(lab)).toEqual(before);
    expect(lab.condition('blue', 'Routed')).toStartWith('True');
    expect(lab.condition('blue', 'WorkersReady')).toStartWith('Unknown WaitingForCondition');
    expect(server.read(RESOURCES.daemonSet, PROXY)).toBeUndefined();

    await expose(lab, { prepare: 'Force' });

    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    expect(tenantIn(lab)?.spec.networkProfile.certSANs).toEqual([
      ...['blue.example.test', API_HOST, KONNECTIVITY_HOST],
    ]);
  });

  test('reports how to keep a host that the object has already, and keeps it then', async () => {
    await using lab = await startProvidedLab();
    const ingress = { hostname: 'own.example.test:443' };
    await addKamaji(lab, 'blue', { 'spec.controlPlane.ingress': ingress });
    const hint = 'To keep the current hosts, set spec.hosts.api: own.example.test in the Exposure.';

    await expose(lab, { prepare: 'Report' });
    expect(await lab.untilCondition('blue', 'Prepared', /PreparationRequired/)).toContain(hint);
    await expose(lab);
    expect(await lab.untilCondition('blue', 'Prepared', /FieldConflict/)).toContain(hint);
    await expose(lab, { hosts: { api: 'own.example.test' } });

    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    expect(tenantIn(lab)?.spec.controlPlane.ingress).toMatchObject(ingress);
  });

  test('with prepare: Report writes nothing and reports all fields', async () => {
    await using lab = await startProvidedLab();
    await addKamaji(lab, 'blue');
    const before = tenantIn(lab);

    await expose(lab, { prepare: 'Report' });

    const condition = await lab.untilCondition('blue', 'Prepared', /^False PreparationRequired/);
    for (const field of ['ingress.hostname', 'ingress.ingressClassName', 'certSANs', 'extraArgs']) {
      expect(condition).toContain(field);
    }
    expect(condition).toContain('snicket render');
    expect(tenantIn(lab)).toEqual(before);

    await lab.user.apply(
      {
        apiVersion: KAMAJI.apiVersion,
        kind: KAMAJI.kind,
        metadata: BLUE,
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

    await lab.untilCondition('blue', 'WorkersReady', /^True/);
    const { annotations = {} } = lab.exposure('blue')!.metadata;
    expect(annotations).not.toHaveProperty([RECORD_ANNOTATION]);
  });

  test('waits for a TenantControlPlane that is created later', async () => {
    await using lab = await startProvidedLab();

    await expose(lab);

    await lab.untilCondition('blue', 'Prepared', /^False ControlPlaneMissing/);

    await addKamaji(lab, 'blue');

    await lab.untilCondition('blue', 'WorkersReady', /^True/);
  });

  test('warns of kubeconfigs that point elsewhere, and is Prepared nevertheless', async () => {
    await using lab = await startProvidedLab({ resyncMs: 1_000 });
    const { kubeconfig } = await addKamaji(lab, 'blue');
    const old = kubeconfigFor('https://10.0.0.7:6443');
    await lab.changeSecret('blue-admin-kubeconfig', {
      'admin.conf': old,
      'super-admin.svc': kubeconfig,
    });

    await expose(lab);

    const condition = await lab.untilCondition('blue', 'Prepared', /KubeconfigOutdated/);
    expect(condition).toStartWith('True');
    expect(condition).toContain('https://10.0.0.7:6443');
    expect(condition).toContain('kubectl delete -n tenants secret blue-admin-kubeconfig');
  });

  test('restores fields that another client removes, and becomes steady', async () => {
    await using lab = await startProvidedLab({ resyncMs: 1_000 });
    await addKamaji(lab, 'blue');
    await expose(lab);
    await lab.untilCondition('blue', 'WorkersReady', /^True/);

    await lab.user.patch(KAMAJI, BLUE, 'merge', { spec: { controlPlane: { ingress: null } } });

    await lab.until(
      'the host is back',
      () => tenantIn(lab)?.spec.controlPlane.ingress !== undefined,
    );
    await lab.untilQuiet(10);
  });
});
