import { expect, test } from 'bun:test';
import { RESOURCES } from '../../resource.ts';
import type { ApiObject } from '../../store/object-store.ts';
import { configMap, failureOf, ingress, keyOf } from './objects.ts';
import type { ContractSubject } from './subject.ts';

const WRONG_UID = '00000000-0000-4000-8000-000000000000';
const FINALIZER = 'example.invalid/hold';

/** Registers the tests of create, replace, patch and delete. */
export function writeContract(subject: () => ContractSubject): void {
  const { configMap: maps, ingress: ingresses } = RESOURCES;

  test('creates an object with a uid, a version and a time', async () => {
    const { client } = subject();

    const created = await client.create(maps, configMap('create', { a: '1' }));

    expect(created).toMatchObject({ kind: 'ConfigMap', data: { a: '1' } });
    expect(created.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(created.metadata.resourceVersion).toMatch(/^\d+$/);
    expect(created.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(created.metadata.managedFields).toMatchObject([
      { manager: 'snicket', operation: 'Update', fieldsV1: { 'f:data': { 'f:a': {} } } },
    ]);
  });

  test('rejects a second object with the same name, an invalid name, and a missing namespace', async () => {
    const { client } = subject();
    await client.create(maps, configMap('twice'));
    const unplaced = configMap('astray');

    const again = await failureOf(client.create(maps, configMap('twice')));
    const badName = await failureOf(client.create(maps, configMap('Not_A_Name')));
    const nowhere = await failureOf(
      client.create(maps, {
        ...unplaced,
        metadata: { ...unplaced.metadata, namespace: 'nowhere' },
      }),
    );

    expect(again).toMatchObject({ reason: 'AlreadyExists', status: 409 });
    expect(badName).toMatchObject({ reason: 'Invalid', status: 422 });
    expect(nowhere).toMatchObject({ reason: 'NotFound', status: 404 });
  });

  test('replaces only the version that was read', async () => {
    const { client } = subject();
    const created = await client.create(maps, configMap('replace', { a: '1', b: '2' }));

    const replaced = await client.replace(maps, { ...created, data: { a: '3' } });
    const late = await failureOf(client.replace(maps, { ...created, data: { a: '4' } }));

    expect(replaced['data']).toEqual({ a: '3' });
    expect(replaced.metadata.uid).toBe(created.metadata.uid);
    expect(replaced.metadata.resourceVersion).not.toBe(created.metadata.resourceVersion);
    expect(late).toMatchObject({ reason: 'Conflict', status: 409 });
    expect(await client.get(maps, keyOf('replace'))).toEqual(replaced);
  });

  test('removes the ownership of a manager whose entry a patch removes, and nothing else', async () => {
    const { client, other } = subject();
    await client.create(maps, configMap('disown', { a: '1' }));
    const changed = await other.patch(maps, keyOf('disown'), 'merge', { data: { b: '2' } });
    const { resourceVersion, managedFields = [] } = changed.metadata;
    const left = managedFields.filter(({ manager }) => manager !== 'snicket');

    const patched = await client.patch<ApiObject>(maps, keyOf('disown'), 'merge', {
      metadata: { resourceVersion, managedFields: left },
    });

    expect(patched['data']).toEqual({ a: '1', b: '2' });
    expect(patched.metadata.managedFields).toMatchObject([
      { manager: 'other', fieldsV1: { 'f:data': { 'f:b': {} } } },
    ]);
    expect(patched.metadata.managedFields).toHaveLength(1);
  });

  test('fails with NotFound for a replacement or a patch of a missing object', async () => {
    const { client } = subject();
    const absent = configMap('absent');

    expect(await failureOf(client.replace(maps, absent))).toMatchObject({ reason: 'NotFound' });
    expect(await failureOf(client.patch(maps, keyOf('absent'), 'merge', {}))).toMatchObject({
      reason: 'NotFound',
    });
  });

  test('creates no new version for a write that changes nothing', async () => {
    const { client } = subject();
    const created = await client.create(maps, configMap('same', { a: '1' }));

    const replaced = await client.replace(maps, created);
    const patched = await client.patch(maps, keyOf('same'), 'merge', { data: { a: '1' } });

    expect(replaced.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
    expect(patched.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
  });

  test('applies a merge patch, in which null removes a field', async () => {
    const { client } = subject();
    await client.create(maps, configMap('merge', { a: '1', b: '2' }, { labels: { x: 'y' } }));

    const patch = { data: { a: null, c: '3' }, metadata: { labels: { z: 'w' } } };
    const patched = await client.patch<ApiObject>(maps, keyOf('merge'), 'merge', patch);

    expect(patched['data']).toEqual({ b: '2', c: '3' });
    expect(patched.metadata.labels).toEqual({ x: 'y', z: 'w' });
  });

  test('rejects a merge patch for another version or another object of that name', async () => {
    const { client } = subject();
    const { metadata } = await client.create(maps, configMap('merge-version'));
    const patched = await client.patch(maps, keyOf('merge-version'), 'merge', { data: { a: '1' } });

    const stale = { metadata: { resourceVersion: metadata.resourceVersion }, data: { a: '2' } };
    const otherUid = { metadata: { uid: WRONG_UID }, data: { a: '2' } };
    const [late, wrongUid] = [
      await failureOf(client.patch(maps, keyOf('merge-version'), 'merge', stale)),
      await failureOf(client.patch(maps, keyOf('merge-version'), 'merge', otherUid)),
    ];

    expect(late).toMatchObject({ reason: 'Conflict' });
    expect(wrongUid).toMatchObject({ reason: 'Invalid' });
    expect(await client.get(maps, keyOf('merge-version'))).toEqual(patched);
  });

  test('applies all operations of a JSON patch, or none', async () => {
    const { client } = subject();
    const labels = { 'example.invalid/x': 'y' };
    await client.create(maps, configMap('json', { a: '1', b: '2' }, { labels }));

    const patched = await client.patch<ApiObject>(maps, keyOf('json'), 'json', [
      { op: 'test', path: '/data/a', value: '1' },
      { op: 'replace', path: '/data/a', value: '3' },
      { op: 'remove', path: '/data/b' },
      { op: 'add', path: '/metadata/labels/example.invalid~1x', value: 'z' },
    ]);
    const failure = await failureOf(
      client.patch(maps, keyOf('json'), 'json', [
        { op: 'replace', path: '/data/a', value: '5' },
        { op: 'test', path: '/data/a', value: 'other' },
      ]),
    );

    expect(patched['data']).toEqual({ a: '3' });
    expect(patched.metadata.labels).toEqual({ 'example.invalid/x': 'z' });
    expect(failure).toMatchObject({ reason: 'Invalid', status: 422 });
    expect(await client.get(maps, keyOf('json'))).toEqual(patched);
  });

  test('increments the generation for changes of the spec only', async () => {
    const { client } = subject();
    const created = await client.create(ingresses, ingress('generation', 'a.example.invalid'));
    const key = keyOf('generation');

    const labeled = await client.patch(ingresses, key, 'merge', {
      metadata: { labels: { a: 'b' } },
    });
    const reported = await client.patch<ApiObject>(
      ingresses,
      key,
      'merge',
      { status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } },
      { subresource: 'status' },
    );
    const changed = await client.patch(ingresses, key, 'merge', {
      spec: ingress('generation', 'b.example.invalid')['spec'],
    });

    expect(created.metadata.generation).toBe(1);
    expect(labeled.metadata.generation).toBe(1);
    expect(reported.metadata.generation).toBe(1);
    expect(reported['status']).toEqual({ loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } });
    expect(changed.metadata.generation).toBe(2);
  });

  test('writes the status and the other fields separately', async () => {
    const { client } = subject();
    const created = await client.create(ingresses, ingress('apart', 'a.example.invalid'));
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } };
    const other = ingress('apart', 'b.example.invalid');

    const reported = await client.replace(
      ingresses,
      { ...created, spec: other['spec'], status },
      { subresource: 'status' },
    );
    const respecified = await client.replace(ingresses, {
      ...reported,
      spec: other['spec'],
      status: {},
    });

    expect(reported).toMatchObject({ spec: { rules: [{ host: 'a.example.invalid' }] }, status });
    expect(respecified).toMatchObject({ spec: { rules: [{ host: 'b.example.invalid' }] }, status });
  });

  test('deletes an object, and returns whether it existed', async () => {
    const { client } = subject();
    await client.create(maps, configMap('delete'));

    expect(await client.delete(maps, keyOf('delete'))).toBe(true);
    expect(await client.delete(maps, keyOf('delete'))).toBe(false);
    expect(await client.get(maps, keyOf('delete'))).toBeUndefined();
  });

  test('deletes only the object with the given uid and version', async () => {
    const { client } = subject();
    const { metadata } = await client.create(maps, configMap('meant'));
    const { uid, resourceVersion } = metadata;

    const byUid = await failureOf(client.delete(maps, keyOf('meant'), { uid: WRONG_UID }));
    const byVersion = await failureOf(
      client.delete(maps, keyOf('meant'), { resourceVersion: '1' }),
    );
    expect(byUid).toMatchObject({ reason: 'Conflict' });
    expect(byVersion).toMatchObject({ reason: 'Conflict' });
    expect(await client.get(maps, keyOf('meant'))).toBeDefined();

    expect(await client.delete(maps, keyOf('meant'), { uid, resourceVersion })).toBe(true);
    expect(await client.get(maps, keyOf('meant'))).toBeUndefined();
  });

  test('keeps a deleted object until its last finalizer is gone', async () => {
    const { client } = subject();
    const key = keyOf('held');
    await client.create(maps, configMap('held', {}, { finalizers: [FINALIZER] }));

    expect(await client.delete(maps, key)).toBe(true);
    const held = await client.get(maps, key);
    const added = { metadata: { finalizers: [FINALIZER, `${FINALIZER}-2`] } };
    expect(held?.metadata.deletionTimestamp).toBeDefined();
    expect(await failureOf(client.patch(maps, key, 'merge', added))).toMatchObject({
      reason: 'Invalid',
    });

    await client.patch(maps, key, 'merge', { metadata: { finalizers: null } });
    expect(await client.get(maps, key)).toBeUndefined();
  });
}
