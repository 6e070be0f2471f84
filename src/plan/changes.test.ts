import { expect, test } from 'bun:test';
import { APPLIED_ANNOTATION, appliedHash } from '../kube/apply/needs-apply.ts';
import type { KubeObject } from '../kube/object.ts';
import { changeOf } from './changes.ts';

interface ConfigMap extends KubeObject {
  readonly data: Readonly<Record<string, unknown>>;
}

function configMap(data: ConfigMap['data'], kind = 'ConfigMap'): ConfigMap {
  return { apiVersion: 'v1', kind, metadata: { name: 'a', namespace: 'b' }, data };
}

/** Returns the object as it is after an apply. */
function applied(object: ConfigMap, change: Partial<ConfigMap> = {}): ConfigMap {
  const annotations = { [APPLIED_ANNOTATION]: appliedHash(object) };
  return { ...object, metadata: { ...object.metadata, annotations }, ...change };
}

test('there is no change if an apply would write nothing', () => {
  const desired = configMap({ x: '1' });

  expect(changeOf(desired, applied(desired), false)).toEqual([]);
});

test('an object that does not exist is created', () => {
  const desired = configMap({ x: '1' });

  expect(changeOf(desired, undefined, false)).toEqual([
    { action: 'create', object: desired, fields: [], waits: false },
  ]);
});

test('a changed field has its current and desired value', () => {
  const desired = configMap({ x: '1', y: ['a'], z: '3' });
  const live = applied(desired, { data: { x: '2', y: ['a', 'b'] } });

  const [change] = changeOf(desired, live, true);

  expect(change).toMatchObject({
    action: 'change',
    waits: true,
    fields: [
      { path: 'data.x', from: '2', to: '1' },
      { path: 'data.y', from: ['a', 'b'], to: ['a'] },
      { path: 'data.z', to: '3' },
    ],
  });
});

test('the change of a Secret shows only whether values differ', () => {
  const secret = (text: string) =>
    configMap({ key: Buffer.from(text).toString('base64') }, 'Secret');
  const desired = secret('new');
  const live = applied(desired, { data: secret('old').data });

  const text = JSON.stringify(changeOf(desired, live, false)[0]?.fields);

  expect(text).toMatch(/"from":"\(3 bytes, sha256 \w{16}\)","to":"\(3 bytes, sha256 \w{16}\)"/);
  expect(text).not.toContain(String(desired.data['key']));
});

test('an apply that writes only its hash is a change of the hash', () => {
  const desired = configMap({ x: '1' });
  const hash = appliedHash(desired);

  const [change] = changeOf(desired, desired, false);

  expect(change?.fields).toEqual([
    { path: `metadata.annotations.${APPLIED_ANNOTATION}`, to: hash },
  ]);
});

test('entries of other clients in a map that Snicket owns exclusively are removed', () => {
  const daemonSet = (nodeSelector: Readonly<Record<string, string>>) => ({
    ...configMap({}, 'DaemonSet'),
    spec: { template: { spec: { nodeSelector } } },
  });
  const desired = daemonSet({ os: 'linux' });
  const live = applied(desired, daemonSet({ os: 'linux', gpu: 'yes' }));

  const changes = changeOf(desired, live, false);

  expect(changes).toMatchObject([
    { action: 'change', fields: [{ path: 'spec.template.spec.nodeSelector.gpu', from: 'yes' }] },
  ]);
});
