import { expect, test } from 'bun:test';
import { Applier } from './apply.ts';
import { needsApply } from './needs-apply.ts';
import { removalPatch, extraFields } from './extra-fields.ts';
import { RESOURCES } from '../resource.ts';
import { MemoryApiServer } from '../testing/memory/memory-api-server.ts';
import type { ApiObject } from '../store/object-store.ts';

function daemonSet(pod: object): ApiObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'proxy', namespace: 'kube-system' },
    spec: { template: { spec: pod } },
  };
}

const LINUX = { 'kubernetes.io/os': 'linux' };

test('entries that were not applied are extra fields of exclusively owned maps', () => {
  const desired = daemonSet({ nodeSelector: LINUX });
  const affinity = { nodeAffinity: { required: 'x' } };
  const live = daemonSet({
    nodeSelector: { ...LINUX, 'example.test/gpu': 'yes' },
    affinity,
    tolerations: [],
    schedulerName: 'default-scheduler',
  });

  const found = extraFields(desired, live);

  expect(found.map(({ path }) => path)).toEqual([
    '.spec.template.spec.nodeSelector.example.test/gpu',
    '.spec.template.spec.affinity',
  ]);
  expect(removalPatch(found)).toEqual({
    spec: { template: { spec: { nodeSelector: { 'example.test/gpu': null }, affinity: null } } },
  });
});

test('there are none for another kind, or if the live object equals the desired one', () => {
  const desired = daemonSet({ nodeSelector: LINUX, tolerations: [{ operator: 'Exists' }] });

  expect(extraFields(desired, desired)).toEqual([]);
  expect(
    extraFields({ ...desired, kind: 'Deployment' }, daemonSet({ affinity: { a: 1 } })),
  ).toEqual([]);
});

test('an apply removes them, and needs no second apply', async () => {
  await using server = await MemoryApiServer.start();
  const client = server.client();
  const other = server.client({ fieldManager: 'other' });
  const desired = daemonSet({ nodeSelector: LINUX });
  const key = desired.metadata;
  const applier = new Applier(client);
  await applier.applyIfNeeded(desired, undefined, { force: true });
  const pod = { nodeSelector: { gpu: 'yes' }, affinity: { podAffinity: { a: 1 } } };
  await other.patch(RESOURCES.daemonSet, key, 'merge', { spec: { template: { spec: pod } } });
  const changed = server.read(RESOURCES.daemonSet, key) as ApiObject;
  expect(needsApply(desired, changed)).toBe(true);

  const { object } = await new Applier(client).applyIfNeeded(desired, changed, { force: true });

  expect(object).toMatchObject({ spec: { template: { spec: { nodeSelector: LINUX } } } });
  expect(extraFields(desired, object)).toEqual([]);
  expect(needsApply(desired, server.read(RESOURCES.daemonSet, key))).toBe(false);
});
