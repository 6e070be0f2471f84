import { describe, expect, test } from 'bun:test';
import { ManualClock } from '../../clock/manual-clock.ts';
import { objectText, type KubeObject } from '../../kube/object.ts';
import { tenantInput } from '../../plan/testing/inputs.ts';
import { PATH_ANNOTATION, RELEASE_ANNOTATION } from '../../tenant/release.ts';
import { tenantObjects } from '../../tenant/tenant-objects.ts';
import { RolloutPacer } from './rollout-pacing.ts';
import { paceRollout } from './rollout.ts';
import type { TenantChanges } from './tenant-side.ts';

const OLD_CONFIG: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'snicket-proxy-of-before', namespace: 'kube-system' },
};
const OLD_SLICE: KubeObject = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'kubernetes-of-before', namespace: 'default' },
};

/** The changes in a tenant whose objects have another value of an annotation. */
function changesOf(annotation: string, status: object): TenantChanges {
  return {
    wanted: tenantObjects(tenantInput()).map((desired) => ({
      desired,
      live: { ...withAnother(annotation, desired), status },
      waits: false,
    })),
    prunable: [OLD_CONFIG, OLD_SLICE],
  };
}

function withAnother(annotation: string, object: KubeObject): KubeObject {
  const { metadata } = object;
  const annotations = { ...metadata.annotations, [annotation]: 'another' };
  return { ...object, metadata: { ...metadata, annotations } };
}

/** What is paced in a tenant, next to others that are active. */
function paced(active: number, annotation = RELEASE_ANNOTATION, status = {}): TenantChanges {
  const pacer = new RolloutPacer({
    maxConcurrent: 1,
    exposures: () => 1,
    clock: new ManualClock(),
    onChange: () => {},
  });
  pacer.reconciled('tenants/a');
  for (let index = 0; index < active; index++) pacer.request(`tenants/active-${index}`, true);
  return paceRollout('tenants/a', changesOf(annotation, status), pacer).changes;
}

describe('a tenant that waits for its rollout', () => {
  test('keeps its DaemonSet, and applies everything else of a new release', () => {
    const waiting = paced(1).wanted.filter(({ waits }) => waits);

    expect(waiting.map(({ desired }) => objectText(desired))).toEqual([
      'DaemonSet kube-system/snicket-proxy',
    ]);
  });

  test('keeps what its pods mount as well if the Edge changed', () => {
    const waiting = paced(1, PATH_ANNOTATION).wanted.filter(({ waits }) => waits);

    expect(waiting.map(({ desired }) => objectText(desired))).toEqual([
      'ConfigMap kube-system/snicket-proxy',
      'Secret kube-system/snicket-proxy',
      'DaemonSet kube-system/snicket-proxy',
    ]);
  });

  test('keeps what its pods may mount, but no outdated endpoints', () => {
    expect(paced(1).prunable).toEqual([OLD_SLICE]);
  });

  test('deletes the rest when it starts', () => {
    expect(paced(0).prunable).toEqual([OLD_CONFIG, OLD_SLICE]);
  });
});

describe('a tenant without a ready proxy', () => {
  const status = { desiredNumberScheduled: 2, numberReady: 0 };

  test('does not wait for a changed Edge, which may repair it', () => {
    expect(paced(1, PATH_ANNOTATION, status).wanted.filter(({ waits }) => waits)).toEqual([]);
  });

  test('waits for a new release', () => {
    const { wanted } = paced(1, RELEASE_ANNOTATION, status);
    expect(wanted.filter(({ waits }) => waits)).toHaveLength(1);
  });
});
