import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { InformerCache, type Change } from './cache.ts';
import { keyText, type KubeObject } from '../object.ts';

interface Pod extends KubeObject {
  readonly node: string;
}

function pod(name: string, resourceVersion = '1', more: { uid?: string; node?: string } = {}): Pod {
  const { uid = `uid of ${name}`, node = 'n' } = more;
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, uid, resourceVersion }, node };
}

/** Returns changes in short form. */
function changeTexts(changes: readonly Change<Pod>[]): string[] {
  return changes.map(
    ({ type, object }) => `${type} ${object.metadata.name} ${object.metadata.resourceVersion}`,
  );
}

describe('the cache reports', () => {
  test('a new object, a new version and a deletion', () => {
    const cache = new InformerCache<Pod>();

    expect(changeTexts(cache.put(pod('a', '1')))).toEqual(['ADDED a 1']);
    const moved = pod('a', '2', { node: 'm' });
    expect(cache.put(moved)).toEqual([
      { type: 'MODIFIED', object: moved, previous: pod('a', '1') },
    ]);
    expect(changeTexts(cache.remove(pod('a', '3')))).toEqual(['DELETED a 3']);
    expect(cache.size).toBe(0);
  });

  test('nothing for the same version', () => {
    const cache = new InformerCache<Pod>();
    cache.put(pod('a'));

    expect(cache.put(pod('a'))).toEqual([]);
    expect(cache.remove(pod('b'))).toEqual([]);
  });

  test('nothing if no retained field has changed', () => {
    const cache = new InformerCache<Pod>();
    cache.put(pod('a', '1'));

    expect(cache.put(pod('a', '2'))).toEqual([]);
    expect(cache.get({ name: 'a' })?.metadata.resourceVersion).toBe('2');
  });

  test('a deletion and an addition for another object of the same name', () => {
    const cache = new InformerCache<Pod>();
    cache.put(pod('a', '1'));

    expect(changeTexts(cache.put(pod('a', '5', { uid: 'other' })))).toEqual([
      'DELETED a 1',
      'ADDED a 5',
    ]);
  });

  test('the differences of a new list', () => {
    const cache = new InformerCache<Pod>();
    cache.replace([pod('same'), pod('changed'), pod('gone')]);

    const changes = cache.replace([pod('same'), pod('changed', '2', { node: 'm' }), pod('new')]);

    expect(changeTexts(changes)).toEqual(['DELETED gone 1', 'MODIFIED changed 2', 'ADDED new 1']);
  });
});

describe('an index', () => {
  const indexes = { node: ({ node }: Pod) => (node === '' ? [] : [node]) };

  test('finds objects by their current value only', () => {
    const cache = new InformerCache<Pod>(indexes);
    cache.put(pod('a', '1', { node: 'one' }));
    cache.put(pod('b', '1', { node: 'one' }));
    cache.put(pod('a', '2', { node: 'two' }));

    const names = (node: string) =>
      cache.byIndex('node', node).map(({ metadata }) => metadata.name);

    expect([names('one'), names('two'), names('three')]).toEqual([['b'], ['a'], []]);
  });

  test('that cannot read an object of a list changes nothing', () => {
    const unreadable = { ...pod('b'), node: null } as unknown as Pod;
    const strict = new InformerCache<Pod>({ node: ({ node }) => [node.trim()] });
    strict.put(pod('a', '1', { node: 'one' }));

    expect(() => strict.replace([pod('c'), unreadable])).toThrow('Pod b is malformed');
    expect(() => strict.put(unreadable)).toThrow('Pod b is malformed');

    expect(strict.list()).toEqual([pod('a', '1', { node: 'one' })]);
    expect(strict.byIndex('node', 'one')).toHaveLength(1);
    expect(strict.byIndex('node', 'n')).toEqual([]);
  });

  test('that does not exist is an error', () => {
    expect(() => new InformerCache<Pod>(indexes).byIndex('zone', 'a')).toThrow('no index "zone"');
  });
});

/** Returns the object without its version. A change of the version alone is not reported. */
function withoutVersion({ metadata, ...rest }: Pod): object {
  return { ...rest, metadata: { ...metadata, resourceVersion: undefined } };
}

test('the changes reproduce the content of the cache', () => {
  const anyPod = fc
    .record({
      name: fc.constantFrom('a', 'b', 'c'),
      version: fc.constantFrom('1', '2', '3'),
      uid: fc.constantFrom('x', 'y'),
      node: fc.constantFrom('one', 'two', ''),
    })
    .map(({ name, version, uid, node }) => pod(name, version, { uid, node }));
  const anyStep = fc.oneof(
    fc.record({ does: fc.constant('put'), object: anyPod }),
    fc.record({ does: fc.constant('remove'), object: anyPod }),
    fc.record({
      does: fc.constant('replace'),
      objects: fc.uniqueArray(anyPod, { selector: ({ metadata }) => metadata.name }),
    }),
  );

  fc.assert(
    fc.property(fc.array(anyStep), (steps) => {
      const cache = new InformerCache<Pod>({ node: ({ node }) => [node] });
      const followed = new Map<string, Pod>();
      for (const step of steps) {
        const changes =
          'objects' in step
            ? cache.replace(step.objects)
            : step.does === 'put'
              ? cache.put(step.object)
              : cache.remove(step.object);
        for (const { type, object } of changes) {
          const key = keyText(object.metadata);
          expect(followed.has(key)).toBe(type !== 'ADDED');
          if (type === 'DELETED') followed.delete(key);
          else followed.set(key, object);
        }
      }

      const known = (pods: Iterable<Pod>) => new Set([...pods].map(withoutVersion));
      expect(known(cache.list())).toEqual(known(followed.values()));
      for (const node of ['one', 'two', '']) {
        const expected = cache.list().filter((object) => object.node === node);
        expect(new Set(cache.byIndex('node', node))).toEqual(new Set(expected));
      }
    }),
  );
});
