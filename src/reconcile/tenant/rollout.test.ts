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

/** The changes in a tenant whose objects have another value of an annotation, by default on Snicket's gateway. */
function changesOf(annotation: string, status: object, edge = 'shared snicket'): TenantChanges {
  return {
    wanted: tenantObjects({ ...tenantInput(), edge }).map((desired) => ({
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
  return pacedChanges(active, changesOf(annotation, status));
}

function pacedChanges(active: number, changes: TenantChanges): TenantChanges {
  const pacer = new RolloutPacer({
    maxConcurrent: 1,
    exposures: () => 1,
    clock: new ManualClock(),
    onChange: () => {},
  });
  pacer.reconciled('tenants/a');
  for (let index = 0; index < active; index++) pacer.request(`tenants/active-${index}`, true);
  return paceRollout('tenants/a', changes, pacer).changes;
}

describe('a tenant that waits for its rollout', () => {
  test('keeps its DaemonSet, and applies everything else of a new release', () => {
    const waiting = paced(1).wanted.filter(({ waits }) => waits);

    expect(waiting.map(({ desired }) => objectText(desired))).toEqual([
      'DaemonSet kube-system/snicket-proxy',
    ]);
  });

  test('keeps the objects that its pods mount as well if the Edge changed', () => {
    const waiting = paced(1, PATH_ANNOTATION).wanted.filter(({ waits }) => waits);

    expect(waiting.map(({ desired }) => objectText(desired))).toEqual([
      'ConfigMap kube-system/snicket-proxy',
      'Secret kube-system/snicket-proxy',
      'DaemonSet kube-system/snicket-proxy',
    ]);
  });

  test('keeps the objects that its pods may mount, but no outdated endpoints', () => {
    expect(paced(1).prunable).toEqual([OLD_SLICE]);
  });

  test('deletes the rest when it starts', () => {
    expect(paced(0).prunable).toEqual([OLD_CONFIG, OLD_SLICE]);
  });
});

describe('a tenant whose Edge changed', () => {
  const waitingOf = ({ wanted }: TenantChanges) => wanted.filter(({ waits }) => waits);

  test('does not wait if its route objects are overwritten, as when the host changes and the driver stays', () => {
    const changes = changesOf(PATH_ANNOTATION, {}, 'shared haproxy');

    expect(waitingOf(pacedChanges(1, changes))).toEqual([]);
  });

  test('waits if the driver changes, because the objects of the previous driver stay', () => {
    const { wanted, prunable } = changesOf(PATH_ANNOTATION, {}, 'shared haproxy');
    const before = changesOf(PATH_ANNOTATION, {}, 'shared traefik').wanted;
    const changes = {
      wanted: wanted.map((object, at) => ({ ...object, live: before[at]!.live })),
      prunable,
    };

    expect(waitingOf(pacedChanges(1, changes))).toHaveLength(3);
  });

  test('gets the Secret of its proxies again at once if another client deleted it', () => {
    const { wanted, prunable } = changesOf(PATH_ANNOTATION, {});
    const isSecret = ({ kind }: KubeObject) => kind === 'Secret';
    const changes = {
      wanted: wanted.map((object) =>
        isSecret(object.desired) ? { ...object, live: undefined } : object,
      ),
      prunable,
    };

    expect(waitingOf(pacedChanges(1, changes)).map(({ desired }) => desired.kind)).toEqual([
      'ConfigMap',
      'DaemonSet',
    ]);
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
