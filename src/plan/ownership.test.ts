import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { DRIVERS } from '../api/edge.ts';
import { driverFor } from '../edges/driver-for.ts';
import { BLUE, edge, serving, SPECS } from '../edges/testing/blue.ts';
import type { KubeObject } from '../kube/object.ts';
import { EXPOSURE_LABEL, MANAGED_BY } from '../api/labels.ts';
import { ownedBy, ownRoutes, prunable, type OwnershipMark } from './ownership.ts';
import { exposure } from './testing/inputs.ts';

const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by';
const UID = 'uid-of-blue';
const mark: OwnershipMark = { labels: { [EXPOSURE_LABEL]: 'blue' }, owner: { uid: UID } };
const marked = { ...MANAGED_BY, [EXPOSURE_LABEL]: 'blue' };
const owners = [{ apiVersion: 'snicket.dev/v1alpha1', kind: 'Exposure', name: 'blue', uid: UID }];

function object(name: string, metadata: Partial<KubeObject['metadata']> = {}): KubeObject {
  const common = { labels: marked, ownerReferences: owners, namespace: 'default' };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...common, ...metadata } };
}

test('returns own objects that are not desired', () => {
  const found = prunable([object('old'), object('wanted')], [object('wanted')], mark);

  expect(found.map(({ metadata }) => metadata.name)).toEqual(['old']);
});

test('treats one object in two versions of its group as the same', () => {
  const route = {
    ...object('route'),
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'TLSRoute',
  };

  const found = prunable(
    [route],
    [{ ...route, apiVersion: 'gateway.networking.k8s.io/v1alpha2' }],
    mark,
  );

  expect(found).toEqual([]);
});

test('never returns an object without the labels or the owner, or one that is being deleted', () => {
  const label = fc.constantFrom('snicket', 'blue', 'green', 'helm');
  const metadataOf = fc.record({
    name: fc.constantFrom('a', 'b', 'c'),
    labels: fc.record({ [MANAGED_BY_LABEL]: label, [EXPOSURE_LABEL]: label }, { requiredKeys: [] }),
    ownerReferences: fc.subarray([owners[0]!, { ...owners[0]!, uid: 'another' }]),
    deletionTimestamp: fc.option(fc.constant('2026-01-02T03:04:05Z'), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(metadataOf), fc.subarray(['a', 'b', 'c']), (metadata, wanted) => {
      const live = metadata.map((fields) =>
        object(fields.name, fields as Partial<KubeObject['metadata']>),
      );

      const found = prunable(
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

describe('the routes of an Exposure', () => {
  const blue = exposure();
  const created = (driver: (typeof DRIVERS)[number]) =>
    ownedBy(blue, driverFor(driver).objects(BLUE, edge(SPECS[driver]), serving()));
  const planned = created('haproxy');
  const [route] = planned;
  const isOwn = ownRoutes(blue, planned);

  function otherwise(metadata: Partial<KubeObject['metadata']>): KubeObject {
    return { ...route!, metadata: { ...route!.metadata, ...metadata } };
  }

  test.each(DRIVERS)('are those that driver %s creates, planned or previous', (driver) => {
    const objects = created(driver);

    expect(objects.map(ownRoutes(blue, objects))).toEqual(objects.map(() => true));
    expect(objects.map(isOwn)).toEqual(objects.map(() => true));
  });

  test('include planned ones that have lost their labels', () => {
    const bare = otherwise({ labels: {} });

    expect(isOwn(bare)).toBe(true);
    expect(ownRoutes(blue, [])(bare)).toBe(false);
  });

  test.each<[string, Partial<KubeObject['metadata']>]>([
    ['in another namespace', { namespace: 'elsewhere' }],
    ['with a name that Snicket never generates', { name: 'snicket-blue-2' }],
    ['of a previous Exposure with that name', { ownerReferences: [{ ...owners[0]!, uid: 'old' }] }],
    ['without an owner', { ownerReferences: [] }],
  ])('do not include an object %s, whatever its labels and owner', (_where, metadata) => {
    expect(isOwn(otherwise(metadata))).toBe(false);
  });

  test('are none if the Exposure is not in a cluster', () => {
    expect(ownRoutes(exposure({}, { uid: undefined }), planned)(route!)).toBe(false);
  });
});
