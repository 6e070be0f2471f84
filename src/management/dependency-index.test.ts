import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { RESOURCES } from '../kube/resource.ts';
import { dependencyOn, DependencyIndex } from './dependency-index.ts';

const blue = { namespace: 'tenants', name: 'blue' };

test('an event reaches the Exposures that depend on the object', () => {
  const index = new DependencyIndex();
  const service = dependencyOn(RESOURCES.service, blue);
  index.set('tenants/a', new Set([service, 'Secret/tenants/ca']));
  index.set('tenants/b', new Set([service]));

  expect([...index.dependents(service)]).toEqual(['tenants/a', 'tenants/b']);
  expect([...index.dependents('Secret/tenants/ca')]).toEqual(['tenants/a']);
  expect([...index.dependents('Secret/tenants/other')]).toEqual([]);
});

test('versions of one kind are one dependency, and kinds of two groups are two', () => {
  const of = (apiVersion: string) => dependencyOn({ apiVersion, kind: 'Cluster' }, blue);

  expect(of('k0smotron.io/v1beta1')).toBe(of('k0smotron.io/v1beta2'));
  expect(of('k0smotron.io/v1beta1')).not.toBe(of('cluster.x-k8s.io/v1beta1'));
  expect(of('v1')).toBe('Cluster/tenants/blue');
});

test('after any sequence of changes the index answers as a scan would', () => {
  const key = fc.constantFrom('a', 'b', 'c');
  const dependencies = fc.uniqueArray(fc.constantFrom('1', '2', '3', '4'));
  const change = fc.record({ key, adds: fc.boolean(), dependencies: fc.option(dependencies) });
  fc.assert(
    fc.property(fc.array(change), (changes) => {
      const index = new DependencyIndex();
      const expected = new Map<string, readonly string[]>();
      for (const change of changes) {
        if (change.dependencies === null) {
          index.forget(change.key);
          expected.delete(change.key);
        } else if (change.adds) {
          for (const dependency of change.dependencies) index.add(change.key, dependency);
          expected.set(change.key, [...(expected.get(change.key) ?? []), ...change.dependencies]);
        } else {
          index.set(change.key, new Set(change.dependencies));
          expected.set(change.key, change.dependencies);
        }
      }
      for (const dependency of ['1', '2', '3', '4']) {
        const scanned = [...expected].filter(([, all]) => all.includes(dependency));
        expect([...index.dependents(dependency)].toSorted()).toEqual(
          scanned.map(([name]) => name).toSorted(),
        );
      }
    }),
  );
});
