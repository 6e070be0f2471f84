import { expect, test } from 'bun:test';
import { tenantRoute } from '../plan/testing/tenant-routes.ts';
import type { TenantRoute } from './tenant-route.ts';
import { TenantRouteIndex } from './tenant-route-index.ts';

const HOST = 'blue.example.test';
const routeAt = (uid: string, resourceVersion: string) =>
  tenantRoute('blue', HOST, { name: 'blue-1', uid, resourceVersion });

test('finds TenantRoutes by host, Exposure and Service, until they are deleted', () => {
  const route = routeAt('1', '10');
  const index = new TenantRouteIndex([route]);

  expect(index.ofHost(HOST)).toEqual([route]);
  expect(index.ofExposure('tenants/blue')).toEqual([route]);
  expect(index.ofService('tenants/blue')).toEqual([route]);

  expect(index.remove(route)).toBe(true);

  expect([index.ofHost(HOST), index.ofExposure('tenants/blue')]).toEqual([[], []]);
  expect(index.ofService('tenants/blue')).toEqual([]);
});

test('moves a TenantRoute that changes its host', () => {
  const index = new TenantRouteIndex([routeAt('1', '10')]);

  index.put(tenantRoute('blue', 'other.test', { name: 'blue-1', uid: '1', resourceVersion: '11' }));

  expect(index.ofHost(HOST)).toEqual([]);
  expect(index.ofHost('other.test').length).toBe(1);
});

/** Adds a TenantRoute as the response to a write of this process. */
async function write(index: TenantRouteIndex<TenantRoute>, route: TenantRoute): Promise<void> {
  await index.write(
    async () => route,
    (response) => response,
  );
}

test('accepts a lower version from the watch, as after a restore from backup', () => {
  const index = new TenantRouteIndex([routeAt('1', '20')]);

  expect(index.put(routeAt('1', '9'))).toBe(true);

  expect(index.list()).toEqual([routeAt('1', '9')]);
});

test('ignores a watch event that is older than the response to a write', async () => {
  const index = new TenantRouteIndex([routeAt('old', '9')]);
  await write(index, routeAt('new', '20'));

  expect(index.put(routeAt('old', '10'))).toBe(false);
  expect(index.put(routeAt('new', '19'))).toBe(false);
  expect(index.remove(routeAt('old', '10'))).toBe(false);
  expect(index.list()).toEqual([routeAt('new', '20')]);

  // The watch has reported the write, and is authoritative from now on.
  expect(index.put(routeAt('new', '20'))).toBe(false);
  expect(index.put(routeAt('new', '19'))).toBe(true);
});

test('ignores the response to a write after its watch event or a later one', async () => {
  const index = new TenantRouteIndex([routeAt('1', '20')]);

  await write(index, routeAt('1', '20'));
  await write(index, routeAt('1', '19'));

  expect(index.list()).toEqual([routeAt('1', '20')]);
  expect(index.put(routeAt('1', '18'))).toBe(true);
});

test('ignores the response to a write after the deletion of its TenantRoute', async () => {
  const index = new TenantRouteIndex<TenantRoute>();
  const response = Promise.withResolvers<TenantRoute>();
  const writing = index.write(
    async () => response.promise,
    (route) => route,
  );
  index.put(routeAt('1', '10'));
  index.remove(routeAt('1', '11'));

  response.resolve(routeAt('1', '10'));
  await writing;

  expect(index.list()).toEqual([]);
  // The name can be used again.
  await write(index, routeAt('2', '12'));
  expect(index.list()).toEqual([routeAt('2', '12')]);
});

test('keeps the object of the watch in place of the response to the write', async () => {
  const index = new TenantRouteIndex<TenantRoute>();
  await write(index, routeAt('1', '20'));
  const watched = routeAt('1', '20');

  expect(index.put(watched)).toBe(false);

  expect(index.list()[0]).toBe(watched);
  expect(index.ofHost(HOST)[0]).toBe(watched);
  expect(index.ofExposure('tenants/blue')).toHaveLength(1);
});

test('prefers a list to earlier own writes', async () => {
  const index = new TenantRouteIndex<TenantRoute>();
  const other = tenantRoute('green', HOST, { name: 'green-1', uid: '2', resourceVersion: '21' });
  await write(index, routeAt('1', '20'));
  await write(index, other);

  expect(index.beginList()(({ name }) => name === 'blue-1')).toEqual([other]);

  expect(index.list()).toEqual([routeAt('1', '20')]);
  expect(index.put(routeAt('1', '9'))).toBe(true);
  expect(index.beginList()(() => false)).toEqual([]);
});

test('keeps own writes that complete during a list', async () => {
  const index = new TenantRouteIndex<TenantRoute>();
  const other = tenantRoute('green', HOST, { name: 'green-1', uid: '2', resourceVersion: '22' });
  await write(index, routeAt('1', '20'));

  const complete = index.beginList();
  await write(index, routeAt('1', '21'));
  await write(index, other);

  expect(complete(() => false)).toEqual([]);
  expect(index.put(routeAt('1', '20'))).toBe(false);
  expect(index.list()).toEqual([routeAt('1', '21'), other]);
});
