import { expect, test } from 'bun:test';
import { APPLIED_ANNOTATION } from '../kube/apply/needs-apply.ts';
import type { RecordedWrite } from '../kube/client/recording-client.ts';
import type { KubeObject } from '../kube/object.ts';
import { RESOURCES } from '../kube/resource.ts';
import { objectOf } from '../operator/testing/objects.ts';
import { recordedChanges } from './recorded-changes.ts';

const { configMap, secret, exposure, lease } = RESOURCES;

function map(data: object, metadata: Partial<KubeObject['metadata']> = {}): KubeObject {
  return objectOf('ConfigMap', { name: 'a', namespace: 'default', ...metadata }, { data });
}

function write(
  before: KubeObject | undefined,
  after: KubeObject | undefined,
  rest: Partial<RecordedWrite> = {},
): RecordedWrite {
  return { verb: 'patch', resource: configMap, before, after, ...rest };
}

test('an object that did not exist is created, and an object that is gone is deleted', () => {
  const other = map({}, { name: 'b' });

  const changes = recordedChanges([write(undefined, map({ x: '1' })), write(other, undefined)]);

  expect(changes.map(({ action, object }) => [action, object.metadata.name])).toEqual([
    ['create', 'a'],
    ['delete', 'b'],
  ]);
});

test('several writes to one object are one change, from the first value to the last', () => {
  const [first, second, third] = [map({ x: '1' }), map({ x: '2' }), map({ x: '3' })];

  const changes = recordedChanges([write(first, second), write(second, third)]);

  expect(changes).toEqual([
    {
      action: 'change',
      object: third,
      fields: [{ path: 'data.x', from: '1', to: '3' }],
      waits: false,
    },
  ]);
});

test('writes that cancel each other out are no change', () => {
  const [before, between] = [map({ x: '1' }), map({ x: '2' })];

  expect(recordedChanges([write(before, between), write(between, before)])).toEqual([]);
  expect(recordedChanges([write(undefined, before), write(before, undefined)])).toEqual([]);
});

test('an object that is created and then changed is created with the last content', () => {
  const [first, last] = [map({ x: '1' }), map({ x: '2' })];

  const changes = recordedChanges([write(undefined, first), write(first, last)]);

  expect(changes.map(({ action, object }) => [action, object])).toEqual([['create', last]]);
});

test('a field that a write removes has no new value', () => {
  const [change] = recordedChanges([write(map({ x: '1', y: '2' }), map({ y: '2' }))]);

  expect(change?.fields).toEqual([{ path: 'data.x', from: '1' }]);
});

test('metadata of the API server, finalizers, status and the renewal of a Lease are not shown', () => {
  const at = { name: 'a', namespace: 'default' };
  const held = (metadata: object, rest: object) =>
    objectOf('Exposure', { ...at, ...metadata }, rest);
  const renewed = (renewTime: string) =>
    objectOf('Lease', at, { spec: { holderIdentity: 'x', renewTime } });

  const changes = recordedChanges([
    write(
      held({ resourceVersion: '1', uid: 'a' }, { spec: {} }),
      held(
        { resourceVersion: '2', uid: 'a', finalizers: ['snicket.dev/tenant'], generation: 2 },
        { spec: {}, status: { conditions: [] } },
      ),
      { resource: exposure },
    ),
    write(renewed('2026-11-18T06:00:00Z'), renewed('2026-11-18T06:05:00Z'), { resource: lease }),
  ]);

  expect(changes).toEqual([]);
});

test('of an object of another client, only the fields that were applied are shown, leaf by leaf', () => {
  const before = map({ theirs: '1' });
  const applied = map({ ours: '2' }, { annotations: { a: 'b' } });
  const after = map({ theirs: '1', ours: '2' }, { annotations: { a: 'b' } });

  const [change] = recordedChanges([write(before, after, { verb: 'apply', applied })]);

  expect(change?.fields).toEqual([
    { path: 'metadata.annotations.a', to: 'b' },
    { path: 'data.ours', to: '2' },
  ]);
});

test('of an object of Snicket, the hash of the applied configuration is not shown beside other fields', () => {
  const annotated = (data: object, hash: string) =>
    map(data, { annotations: { [APPLIED_ANNOTATION]: hash } });
  const applied = annotated({ x: '2' }, 'new');

  const [change] = recordedChanges([
    write(annotated({ x: '1' }, 'old'), applied, { verb: 'apply', applied }),
  ]);

  expect(change?.fields).toEqual([{ path: 'data.x', from: '1', to: '2' }]);
});

test('values of Secrets are not readable', () => {
  const of = (value: string) =>
    objectOf(
      'Secret',
      { name: 'a', namespace: 'default' },
      { data: { key: Buffer.from(value).toString('base64') } },
    );

  const [change] = recordedChanges([write(of('hush'), of('quiet'), { resource: secret })]);

  expect(change?.fields).toHaveLength(1);
  const text = JSON.stringify(change?.fields);
  expect(text).not.toContain(Buffer.from('hush').toString('base64'));
  expect(text).not.toContain(Buffer.from('quiet').toString('base64'));
});

test('an object that stays for its finalizer after a deletion is deleted', () => {
  const finalizers = ['example.com/hold'];
  const before = map({ x: '1' }, { finalizers });
  const after = map({ x: '1' }, { finalizers, deletionTimestamp: '2026-11-18T06:00:00Z' });

  const [change] = recordedChanges([write(before, after, { verb: 'delete' })]);

  expect(change).toMatchObject({ action: 'delete', object: before, fields: [] });
});
