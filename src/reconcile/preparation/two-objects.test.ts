import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { valueAt } from '../../kube/unstructured.ts';
import type { KubeObject } from '../../kube/object.ts';
import { PROVIDER_RESOURCES } from '../../providers/provider-resources.ts';
import {
  changed,
  clusterDeployment,
  k0smotronControlPlane,
  NAMESPACE,
} from '../../providers/testing/provider-objects.ts';
import { plannedPreparation } from './next-step.ts';
import { PreparationLab, SPEC } from './testing/preparation-lab.ts';

setDefaultTimeout(240_000);

const PATCH = { target: { kind: 'ConfigMap', component: 'x' }, patch: { type: 'merge' } };

/** A ClusterDeployment, and its K0smotronControlPlane with a list that another manager owns. */
async function contested(lab: PreparationLab): Promise<() => readonly KubeObject[]> {
  const { clusterDeployment: deployments, k0smotronControlPlane: controlPlanes } =
    PROVIDER_RESOURCES;
  const deployment = clusterDeployment('violet', 'openstack-hosted-cp-1-0-40');
  const controlPlane = changed(k0smotronControlPlane('violet'), { 'spec.patches': [PATCH] });
  await lab.user.apply(bare(deployment), { resource: deployments });
  await lab.user.apply(bare(controlPlane), { resource: controlPlanes });
  return () => [
    lab.server.read(deployments, { name: 'violet', namespace: NAMESPACE })!,
    lab.server.read(controlPlanes, { name: 'violet-cp', namespace: NAMESPACE })!,
  ];
}

describe('a control plane of two objects, one of which has a field of another manager', () => {
  test('is not written at all', async () => {
    await using lab = await PreparationLab.start();
    const now = await contested(lab);
    const before = now();
    const provided = { provider: 'k0rdent', objects: before } as const;

    const outcome = await lab.preparer.prepare(
      { policy: 'Patch', provided, spec: SPEC, owner: lab.owner() },
      AbortSignal.timeout(200_000),
    );

    expect(now()).toEqual(before);
    expect(outcome.isPrepared).toBe(false);
    expect(outcome.findings).toMatchObject([{ code: 'FieldConflict' }]);
    expect(outcome.findings[0]?.message).toStartWith(
      'Field manager user owns .spec.patches ([{"target":{"kind":"ConfigMap","component":"x"},"patch":{"type":"merge"}}], desired [{"target":{"kind":"ConfigMap","component":"x"},"patch":{"type":"merge"}},{"target":{"kind":"ConfigMap","component":"in…) of K0smotronControlPlane tenants/violet-cp, so Snicket wrote nothing.',
    );
    expect(outcome.findings[0]?.message).toEndWith(
      'of K0smotronControlPlane tenants/violet-cp, so Snicket wrote nothing.',
    );
  });

  test('is reported so in a preview', async () => {
    await using lab = await PreparationLab.start();
    const now = await contested(lab);
    const provided = { provider: 'k0rdent', objects: now() } as const;
    const owner = lab.owner();

    const patch = plannedPreparation({ policy: 'Patch', provided, spec: SPEC, owner });
    const force = plannedPreparation({ policy: 'Force', provided, spec: SPEC, owner });

    expect(patch.isPrepared).toBe(false);
    expect(patch.findings).toMatchObject([{ code: 'FieldConflict' }]);
    expect(force.isPrepared).toBe(true);
    const due = force.plans.filter(({ isDue }) => isDue);
    expect(due.map(({ live }) => live.kind)).toEqual([
      'ClusterDeployment',
      'K0smotronControlPlane',
    ]);
  });
});

test('a ClusterDeployment is written with its control plane with prepare: Force', async () => {
  await using lab = await PreparationLab.start();
  const now = await contested(lab);
  const provided = { provider: 'k0rdent', objects: now() } as const;

  const outcome = await lab.preparer.prepare(
    { policy: 'Force', provided, spec: SPEC, owner: lab.owner() },
    AbortSignal.timeout(200_000),
  );

  const [deployment, controlPlane] = now();
  expect(valueAt(deployment, 'spec', 'config', 'ingress', 'enabled')).toBe(true);
  expect(valueAt(controlPlane, 'spec', 'patches')).toHaveLength(3);
  expect(outcome.isPrepared).toBe(false);
  expect(outcome.findings[0]).toMatchObject({ code: 'ChartValuesUnconfirmed', severity: 'error' });
  expect(outcome.findings[0]?.message).toStartWith(
    'The chart has not passed all values to K0smotronControlPlane tenants/violet-cp: .spec.ingress.deploy is unset, desired false; .spec.ingress.apiHost is unset, desired "blue.k8s.example.test"',
  );
});

test.each(['Patch', 'Report'] as const)(
  'a ClusterDeployment with all values is prepared with %s once its control plane has them',
  async (policy) => {
    await using lab = await PreparationLab.start();
    const now = await contested(lab);
    const prepare = async (by: 'Patch' | 'Force' | 'Report') =>
      lab.preparer.prepare(
        {
          policy: by,
          provided: { provider: 'k0rdent', objects: now() },
          spec: SPEC,
          owner: lab.owner(),
        },
        AbortSignal.timeout(200_000),
      );
    await prepare('Force');
    expect((await prepare(policy)).findings).toMatchObject([
      { code: 'ChartValuesUnconfirmed', severity: 'error' },
    ]);

    // Helm renders the values.
    const [deployment, controlPlane] = now();
    const { enabled: _, ...ingress } = valueAt(deployment, 'spec', 'config', 'ingress') as {
      readonly enabled: boolean;
    };
    const { k0smotronControlPlane: resource } = PROVIDER_RESOURCES;
    await lab.user.patch(resource, controlPlane!.metadata, 'merge', { spec: { ingress } });

    expect(await prepare(policy)).toMatchObject({ isPrepared: true, findings: [] });
  },
);

function bare({ metadata, ...object }: KubeObject): KubeObject {
  const { uid: _uid, resourceVersion: _version, ...rest } = metadata;
  return { ...object, metadata: rest };
}
