import { expect, test } from 'bun:test';
import { tenantRoute } from '../plan/testing/tenant-routes.ts';
import { TenantRouteIndex } from './tenant-route-index.ts';

const HOST = 'blue.example.test';
const at = (uid: string, resourceVersion: string) =>
  tenantRoute('blue', HOST, { name: 'blue-1', uid, resourceVersion });

test('finds TenantRoutes by host, Exposure and Service, and nothing once they are gone', () => {
  const route = at('1', '10');
  const index = new TenantRouteIndex([route]);

  expect(index.ofHost(HOST)).toEqual([route]);
  expect(index.ofExposure('tenants/blue')).toEqual([route]);
  expect(index.ofService('tenants/blue')).toEqual([route]);
  expect(index.ownerOf(HOST)).toBe('tenants/blue');

  expect(index.remove(route)).toBe(true);

  expect([index.ofHost(HOST), index.ofExposure('tenants/blue')]).toEqual([[], []]);
  expect(index.ofService('tenants/blue')).toEqual([]);
  expect(index.ownerOf(HOST)).toBeUndefined();
});

test('moves a TenantRoute that changes its host', () => {
  const index = new TenantRouteIndex([at('1', '10')]);

  index.put(tenantRoute('blue', 'other.test', { name: 'blue-1', uid: '1', resourceVersion: '11' }));

  expect(index.ofHost(HOST)).toEqual([]);
  expect(index.ofHost('other.test').length).toBe(1);
});

test('ignores what a watch reports after the answer to a later write', () => {
  const index = new TenantRouteIndex([at('new', '20')]);

  expect(index.put(at('new', '20'))).toBe(false);
  expect(index.put(at('new', '19'))).toBe(false);
  expect(index.remove(at('old', '10'))).toBe(false);
  expect(index.ownerOf(HOST)).toBe('tenants/blue');
  expect(index.put(at('new', '21'))).toBe(true);
});
