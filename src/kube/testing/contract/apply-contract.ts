import { expect, test } from 'bun:test';
import { conflictOwners } from '../../apply/conflict.ts';
import { RESOURCES } from '../../resource.ts';
import type { ApiObject } from '../../store/object-store.ts';
import { configMap, daemonSet, failureOf, ingress, keyOf, service, slice } from './objects.ts';
import type { ContractSubject } from './subject.ts';

/** Registers the tests of server-side apply. */
export function applyContract(subject: () => ContractSubject): void {
  const maps = RESOURCES.configMap;

  test('creates a missing object, and owns the applied fields', async () => {
    const { client } = subject();

    const applied = await client.apply(configMap('apply', { a: '1' }));

    expect(applied['data']).toEqual({ a: '1' });
    expect(applied.metadata.managedFields).toMatchObject([
      { manager: 'snicket', operation: 'Apply', fieldsV1: { 'f:data': { 'f:a': {} } } },
    ]);
  });

  test('creates no new version if nothing changes', async () => {
    const { client } = subject();
    const first = await client.apply(configMap('apply-same', { a: '1' }));

    const second = await client.apply(configMap('apply-same', { a: '1' }));

    expect(second).toEqual(first);
  });

  test('removes fields that are no longer applied, and none of other managers', async () => {
    const { client, other } = subject();
    await client.apply(configMap('apply-less', { a: '1', b: '2' }, { labels: { x: 'y' } }));
    await other.apply(configMap('apply-less', { c: '3' }));
    await client.patch(maps, keyOf('apply-less'), 'merge', { data: { d: '4' } });

    const less = await client.apply<ApiObject>(configMap('apply-less', { a: '1' }));
    const none = await client.apply<ApiObject>(configMap('apply-less'));

    expect(less['data']).toEqual({ a: '1', c: '3', d: '4' });
    expect(less.metadata.labels ?? {}).toEqual({});
    expect(none['data']).toEqual({ c: '3', d: '4' });
  });

  test('names the owner and the field of a conflict, and changes nothing', async () => {
    const { client, other } = subject();
    const theirs = await other.apply(configMap('conflict', { a: 'theirs', b: 'theirs' }));

    const failure = await failureOf(client.apply(configMap('conflict', { a: 'ours', c: 'ours' })));

    expect(failure).toMatchObject({ reason: 'Conflict', status: 409 });
    expect(conflictOwners(failure)).toEqual([{ manager: 'other', fields: ['.data.a'] }]);
    expect(await client.get(maps, keyOf('conflict'))).toEqual(theirs);
  });

  test('also names owners that wrote without an apply', async () => {
    const { client, other } = subject();
    await client.apply(configMap('conflict-update', { a: 'ours', b: 'ours' }));
    await other.patch(maps, keyOf('conflict-update'), 'merge', { data: { a: 'x', b: 'y' } });

    const failure = await failureOf(
      client.apply(configMap('conflict-update', { a: 'ours', b: 'ours' })),
    );

    expect(conflictOwners(failure)).toEqual([{ manager: 'other', fields: ['.data.a', '.data.b'] }]);
  });

  test('takes fields by force, and their owner loses them', async () => {
    const { client, other } = subject();
    await other.apply(configMap('force', { a: 'theirs', b: 'theirs' }));

    const forced = await client.apply(configMap('force', { a: 'ours' }), { force: true });
    const failure = await failureOf(other.apply(configMap('force', { a: 'theirs' })));

    expect(forced['data']).toEqual({ a: 'ours', b: 'theirs' });
    expect(conflictOwners(failure)).toEqual([{ manager: 'snicket', fields: ['.data.a'] }]);
  });

  test('lets two managers own a field with the same value, until neither applies it', async () => {
    const { client, other } = subject();
    await other.apply(configMap('shared', { a: 'same', b: 'theirs' }));
    await client.apply(configMap('shared', { a: 'same', c: 'ours' }));

    const oneLeft = await other.apply(configMap('shared', { b: 'theirs' }));
    const noneLeft = await client.apply(configMap('shared', { c: 'ours' }));

    expect(oneLeft['data']).toEqual({ a: 'same', b: 'theirs', c: 'ours' });
    expect(noneLeft['data']).toEqual({ b: 'theirs', c: 'ours' });
  });

  test('merges keyed lists item by item', async () => {
    const { client, other } = subject();
    const port = (name: string, number: number) => ({ name, port: number, protocol: 'TCP' });
    await client.apply(service('keyed', { ports: [port('api', 6443), port('way-back', 8132)] }));
    await other.apply(service('keyed', { ports: [port('metrics', 9090)] }));

    const less = await client.apply<ApiObject>(service('keyed', { ports: [port('api', 6443)] }));
    const failure = await failureOf(
      client.apply(service('keyed', { ports: [port('api', 6443), port('ours', 9090)] })),
    );

    const { ports } = less['spec'] as { readonly ports: readonly { readonly name: string }[] };
    expect(ports.map(({ name }) => name).toSorted()).toEqual(['api', 'metrics']);
    expect(conflictOwners(failure)).toEqual([
      { manager: 'other', fields: ['.spec.ports[port=9090,protocol="TCP"].name'] },
    ]);
  });

  test('merges keyed lists inside of keyed lists', async () => {
    const { client, other } = subject();
    const [first, second] = [
      { name: 'A', value: '1' },
      { name: 'B', value: '2' },
    ];
    await client.apply(daemonSet('nested', [first, second]));
    await other.patch(RESOURCES.daemonSet, keyOf('nested'), 'json', [
      {
        op: 'add',
        path: '/spec/template/spec/containers/0/env/-',
        value: { name: 'C', value: '3' },
      },
    ]);

    const less = await client.apply<ApiObject>(daemonSet('nested', [first]));

    expect(less).toMatchObject({
      spec: { template: { spec: { containers: [{ name: 'main' }] } } },
    });
    const { template } = less['spec'] as {
      template: { spec: { containers: { env: { name: string }[] }[] } };
    };
    expect(template.spec.containers[0]?.env.map(({ name }) => name).toSorted()).toEqual(['A', 'C']);
  });

  test('treats a list without keys as one field', async () => {
    const { client, other } = subject();
    await client.apply(slice('atomic', '192.0.2.1', '192.0.2.2'));

    const failure = await failureOf(other.apply(slice('atomic', '192.0.2.1')));
    const fewer = await client.apply<ApiObject>(slice('atomic', '192.0.2.3'));

    expect(conflictOwners(failure)).toEqual([{ manager: 'snicket', fields: ['.endpoints'] }]);
    expect(fewer['endpoints']).toMatchObject([{ addresses: ['192.0.2.3'] }]);
  });

  test('merges finalizers as a set and owners by their uid', async () => {
    const { client, other } = subject();
    // Both owners exist: a garbage collector removes references to owners that do not.
    const [ours, theirs] = await Promise.all(
      ['owner-a', 'owner-b'].map(async (name) => {
        const { metadata } = await client.apply(configMap(name, { a: '1' }));
        return { apiVersion: 'v1', kind: 'ConfigMap', name, uid: metadata.uid ?? '' };
      }),
    );
    if (ours === undefined || theirs === undefined) throw new Error('both owners exist');
    const base = { finalizers: ['example.invalid/ours'], ownerReferences: [ours] };
    await client.apply(configMap('owned', {}, base));
    await other.apply(
      configMap('owned', {}, { finalizers: ['example.invalid/theirs'], ownerReferences: [theirs] }),
    );

    const less = await client.apply(configMap('owned', {}, { ownerReferences: [ours] }));

    expect(less.metadata.finalizers).toEqual(['example.invalid/theirs']);
    expect(less.metadata.ownerReferences?.map(({ name }) => name).toSorted()).toEqual([
      'owner-a',
      'owner-b',
    ]);
    await other.apply(configMap('owned'));
  });

  test('returns the result of a dry run, and writes nothing', async () => {
    const { client, other } = subject();
    const before = await client.apply(configMap('dry', { a: '1' }));

    const would = await client.apply(configMap('dry', { a: '2' }), { dryRun: true });
    const wouldBe = await client.apply(configMap('dry-new', { a: '1' }), { dryRun: true });
    const failure = await failureOf(other.apply(configMap('dry', { a: '3' }), { dryRun: true }));

    expect(would['data']).toEqual({ a: '2' });
    expect(wouldBe['data']).toEqual({ a: '1' });
    expect(conflictOwners(failure)).toEqual([{ manager: 'snicket', fields: ['.data.a'] }]);
    expect(await client.get(maps, keyOf('dry'))).toEqual(before);
    expect(await client.get(maps, keyOf('dry-new'))).toBeUndefined();
  });

  test('applies only to the status, with separate owners', async () => {
    const { client, other } = subject();
    const port = { name: 'api', port: 6443, protocol: 'TCP' };
    await client.apply(service('status', { ports: [port] }));
    const reported = (type: string, status: string): ApiObject => ({
      ...service('status', { ports: [] }),
      status: {
        conditions: [
          {
            type,
            status,
            reason: 'Because',
            message: '',
            lastTransitionTime: '2026-01-02T03:04:05Z',
          },
        ],
      },
    });

    await client.apply(reported('Ours', 'True'), { subresource: 'status' });
    const applied = await other.apply<ApiObject>(reported('Theirs', 'True'), {
      subresource: 'status',
    });
    const failure = await failureOf(
      other.apply(reported('Ours', 'False'), { subresource: 'status' }),
    );
    const again = await client.apply<ApiObject>(service('status', { ports: [port] }));

    const { conditions } = applied['status'] as { conditions: { type: string }[] };
    expect(conditions.map(({ type }) => type).toSorted()).toEqual(['Ours', 'Theirs']);
    expect(applied['spec']).toMatchObject({ ports: [port] });
    expect(conflictOwners(failure)).toEqual([
      { manager: 'snicket', fields: ['.status.conditions[type="Ours"].status'] },
    ]);
    expect(again.metadata.resourceVersion).toBe(applied.metadata.resourceVersion);
  });

  test('rejects an invalid apply', async () => {
    const { client } = subject();
    const applied = await client.apply(configMap('read-back', { a: '1' }));
    const { resourceVersion: _version, uid: _uid, ...stale } = applied.metadata;

    const withManagers = await failureOf(client.apply({ ...applied, metadata: stale }));
    const oldVersion = { ...keyOf('read-back'), resourceVersion: '1' };
    const withOldVersion = await failureOf(
      client.apply({ ...configMap('read-back', { a: '2' }), metadata: oldVersion }),
    );
    const forced = await failureOf(
      client.apply(
        { ...configMap('read-back', { a: '2' }), metadata: oldVersion },
        { force: true },
      ),
    );
    const ofNothing = await failureOf(
      client.apply(
        { ...ingress('nothing', 'a.example.invalid'), status: {} },
        { subresource: 'status' },
      ),
    );

    expect(withManagers).toMatchObject({ reason: 'Invalid', status: 400 });
    expect(withOldVersion).toMatchObject({ reason: 'Conflict' });
    expect(forced).toMatchObject({ reason: 'Conflict', causes: [] });
    expect(ofNothing).toMatchObject({ reason: 'NotFound' });
    // Not so for every kind: applying the status of a Service that does not exist creates the Service.
    expect(await client.get(RESOURCES.ingress, keyOf('nothing'))).toBeUndefined();
  });
}
