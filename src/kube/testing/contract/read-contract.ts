import { beforeAll, expect, test } from 'bun:test';
import { RESOURCES, type Resource } from '../../resource.ts';
import { configMap, failureOf, keyOf, NAMESPACE } from './objects.ts';
import type { ContractSubject } from './subject.ts';

/** More than the page size of any client. */
const MANY = 620;

/** A kind that no server serves. */
const UNKNOWN: Resource = {
  apiVersion: 'none.example.invalid/v1',
  kind: 'Nothing',
  plural: 'nothings',
  namespaced: true,
};

/** Registers the tests of get, list and discovery. */
export function readContract(subject: () => ContractSubject): void {
  const names = async (selection: { labelSelector?: string; fieldSelector?: string }) => {
    const { client } = subject();
    const list = await client.list(RESOURCES.configMap, { namespace: NAMESPACE, ...selection });
    return list.items.map(({ metadata }) => metadata.name).toSorted();
  };

  beforeAll(async () => {
    const { client } = subject();
    for (const [name, labels] of [
      ['read-a', { read: 'yes', tier: 'front' }],
      ['read-b', { read: 'yes', tier: 'back' }],
      ['read-c', { read: 'yes' }],
    ] as const) {
      await client.create(RESOURCES.configMap, configMap(name, { name }, { labels }));
    }
  });

  test('counts all objects of a kind', async () => {
    const { client } = subject();
    const { items } = await client.list(RESOURCES.configMap);

    const count = await client.count(RESOURCES.configMap);

    expect(count).toBe(items.length);
    expect(count).toBeGreaterThan(1);
  });

  test('returns the resourceVersion of the server, which every write raises', async () => {
    const { client } = subject();
    const selection = { namespace: NAMESPACE, labelSelector: 'read=never' };
    const before = Number(await client.currentVersion(RESOURCES.configMap, selection));

    const written = await client.create(RESOURCES.configMap, configMap('read-version'));
    const after = Number(await client.currentVersion(RESOURCES.configMap, selection));

    expect(Number(written.metadata.resourceVersion)).toBeGreaterThan(before);
    expect(after).toBeGreaterThanOrEqual(Number(written.metadata.resourceVersion));
  });

  test('returns an object, and undefined if it does not exist', async () => {
    const { client } = subject();

    const found = await client.get(RESOURCES.configMap, keyOf('read-a'));

    expect(found).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', data: { name: 'read-a' } });
    expect(await client.get(RESOURCES.configMap, keyOf('read-none'))).toBeUndefined();
  });

  test('lists a namespace, all namespaces, and cluster-scoped objects', async () => {
    const { client } = subject();

    const inNamespace = await client.list(RESOURCES.configMap, { namespace: NAMESPACE });
    const inOther = await client.list(RESOURCES.configMap, { namespace: 'kube-public' });
    const everywhere = await client.list(RESOURCES.configMap);
    const namespaces = await client.list(RESOURCES.namespace);

    const spot = ({ metadata: { namespace, name } }: (typeof inNamespace.items)[number]) =>
      `${namespace}/${name}`;
    expect(inNamespace.items.map(spot)).toContain('contract/read-a');
    expect(inOther.items.map(spot)).not.toContain('contract/read-a');
    expect(everywhere.items.map(spot)).toContain('contract/read-a');
    expect(namespaces.items.map(({ metadata }) => metadata.name)).toContain('default');
    expect(inNamespace.items[0]).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
    expect(inNamespace.resourceVersion).toMatch(/^\d+$/);
  });

  test.each([
    ['read=yes', ['read-a', 'read-b', 'read-c']],
    ['read=yes,tier=front', ['read-a']],
    ['read=yes,tier!=front', ['read-b', 'read-c']],
    ['read,tier', ['read-a', 'read-b']],
    ['read,!tier', ['read-c']],
    ['read=yes,tier in (front, back)', ['read-a', 'read-b']],
    ['read=yes,tier notin (front)', ['read-b', 'read-c']],
  ])('selects by the labels %s', async (labelSelector, selected) => {
    expect(await names({ labelSelector })).toEqual([...selected]);
  });

  test('selects by name', async () => {
    expect(await names({ fieldSelector: 'metadata.name=read-b' })).toEqual(['read-b']);
  });

  test('rejects a selector that it cannot parse', async () => {
    expect(await failureOf(names({ labelSelector: 'tier in (' }))).toMatchObject({
      reason: 'Invalid',
    });
  });

  test('lists more objects than fit into a page', async () => {
    const { client } = subject();
    const labels = { many: 'yes' };
    const all = Array.from({ length: MANY }, (_, index) => `many-${index}`);
    for (let at = 0; at < MANY; at += 20) {
      await Promise.all(
        all
          .slice(at, at + 20)
          .map((name) => client.create(RESOURCES.configMap, configMap(name, {}, { labels }))),
      );
    }

    expect(await names({ labelSelector: 'many=yes' })).toEqual(all.toSorted());
  }, 240_000);

  test('returns which kinds are served', async () => {
    const { client } = subject();

    expect(await client.discoverPlurals('v1')).toContain('configmaps');
    expect(await client.discoverPlurals('apps/v1')).toContain('daemonsets');
    expect(await client.discoverPlurals('apps/v1')).not.toContain('daemonsets/status');
    expect((await client.discoverPlurals('none.example.invalid/v1')).size).toBe(0);
    expect((await client.version()).gitVersion).toMatch(/^v1\.\d+\.\d+/);
  });

  test('fails with NotFound for a list of a kind that is not served', async () => {
    const { client } = subject();

    expect(await failureOf(client.list(UNKNOWN))).toMatchObject({
      reason: 'NotFound',
      status: 404,
    });
  });

  test('ends a call when its signal aborts', async () => {
    const { client } = subject();
    const signal = AbortSignal.abort();

    const failure = await failureOf(client.get(RESOURCES.configMap, keyOf('read-a'), { signal }));

    expect(failure).toMatchObject({ reason: 'Aborted' });
  });
}
