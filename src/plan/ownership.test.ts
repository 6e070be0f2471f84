import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { KubeObject } from '../kube/object.ts';
import { EXPOSURE_LABEL, MANAGED_BY } from './labels.ts';
import { superfluous, type Mark } from './ownership.ts';

const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by';
const UID = 'uid-of-blue';
const mark: Mark = { labels: { [EXPOSURE_LABEL]: 'blue' }, owner: { uid: UID } };
const marked = { ...MANAGED_BY, [EXPOSURE_LABEL]: 'blue' };
const owners = [{ apiVersion: 'snicket.dev/v1alpha1', kind: 'Exposure', name: 'blue', uid: UID }];

function object(name: string, metadata: Partial<KubeObject['metadata']> = {}): KubeObject {
  const common = { labels: marked, ownerReferences: owners, namespace: 'default' };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...common, ...metadata } };
}

test('finds what is ours and not desired', () => {
  const found = superfluous([object('old'), object('wanted')], [object('wanted')], mark);

  expect(found.map(({ metadata }) => metadata.name)).toEqual(['old']);
});

test('takes one object in two versions of its group as one', () => {
  const route = {
    ...object('route'),
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'TLSRoute',
  };

  const found = superfluous(
    [route],
    [{ ...route, apiVersion: 'gateway.networking.k8s.io/v1alpha2' }],
    mark,
  );

  expect(found).toEqual([]);
});

test('never finds an object that lacks a label or the owner, or is going', () => {
  const label = fc.constantFrom('snicket', 'blue', 'green', 'helm');
  const anything = fc.record({
    name: fc.constantFrom('a', 'b', 'c'),
    labels: fc.record({ [MANAGED_BY_LABEL]: label, [EXPOSURE_LABEL]: label }, { requiredKeys: [] }),
    ownerReferences: fc.subarray([owners[0]!, { ...owners[0]!, uid: 'another' }]),
    deletionTimestamp: fc.option(fc.constant('2026-01-02T03:04:05Z'), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(anything), fc.subarray(['a', 'b', 'c']), (metadata, wanted) => {
      const live = metadata.map((one) => object(one.name, one as Partial<KubeObject['metadata']>));

      const found = superfluous(
        live,
        wanted.map((name) => object(name)),
        mark,
      );

      const expected = live.filter(
        ({ metadata: { name, labels, ownerReferences, deletionTimestamp } }) =>
          !wanted.includes(name) &&
          labels?.[MANAGED_BY_LABEL] === 'snicket' &&
          labels[EXPOSURE_LABEL] === 'blue' &&
          ownerReferences?.some(({ uid }) => uid === UID) === true &&
          deletionTimestamp === undefined,
      );
      expect(found).toEqual(expected);
    }),
  );
});
