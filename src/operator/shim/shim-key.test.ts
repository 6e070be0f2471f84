import { expect, test } from 'bun:test';
import { PROVIDER_RESOURCES } from '../../providers/provider-resources.ts';
import {
  newTenantControlPlane,
  k0smotronControlPlane,
} from '../../providers/testing/provider-objects.ts';
import { shimKeyOf, parseShimKey } from './shim-key.ts';

test('a key identifies an object, no matter which version was read', () => {
  const older = {
    ...k0smotronControlPlane('amber'),
    apiVersion: 'controlplane.cluster.x-k8s.io/v1beta1',
  };

  expect(parseShimKey(shimKeyOf(older)!)).toEqual({
    resource: PROVIDER_RESOURCES.k0smotronControlPlane,
    key: { namespace: 'tenants', name: 'amber-cp' },
  });
});

test('objects of two providers with the same kind have different keys', () => {
  const keys = [
    newTenantControlPlane('kamaji', 'blue'),
    newTenantControlPlane('steward', 'blue'),
  ].map(shimKeyOf);

  expect(new Set(keys).size).toBe(2);
});

test('other objects have no key, and an invalid key is not parsed', () => {
  expect(shimKeyOf({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } })).toBeUndefined();
  expect(parseShimKey('v1 Pod tenants/a')).toBeUndefined();
  expect(parseShimKey('')).toBeUndefined();
});
