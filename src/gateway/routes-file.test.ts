/** Tests a gateway whose routes file is missing, invalid, or rewritten under load. */
import { describe, expect, test } from 'bun:test';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { Backend, Peer } from '../net/testing/peer.ts';
import { hello } from '../wire/hello/hello-builder.ts';
import { GatewayLab, routesJson, until } from './testing/lab.ts';
import { echoed, handshake, Tenant } from './testing/tls.ts';

function errors(lab: GatewayLab) {
  return lab.log
    .filter(({ level }) => level === 'error')
    .map(({ msg, error }) => `${String(msg)}: ${String(error)}`);
}

test('starts with an invalid file, reports the error in /readyz, and loads the file once it is valid', async () => {
  using backend = new Backend();
  await using lab = await GatewayLab.start({ routesText: 'routes:\n  - tenant: [\n' });
  const before = await lab.get('/readyz');

  await lab.changeRoutes([{ host: 'a.test', endpoints: [`127.0.0.1:${backend.port}`] }]);
  const after = await lab.get('/readyz');
  const client = await Peer.dial(lab.port);
  await client.send(hello({ serverName: 'a.test' }));
  await backend.next();

  expect(before.status).toBe(503);
  expect(await before.text()).toContain('routes.json:3:1:');
  expect(after.status).toBe(200);
  client.reset();
});

test('starts without a file, and loads it once it exists', async () => {
  using backend = new Backend();
  await using lab = await GatewayLab.start({ hasRoutesFile: false });
  const before = await lab.get('/readyz');
  const health = await lab.get('/healthz');

  await lab.changeRoutes([{ host: 'a.test', endpoints: [`127.0.0.1:${backend.port}`] }]);
  const after = await lab.get('/readyz');
  const client = await Peer.dial(lab.port);
  await client.send(hello({ serverName: 'a.test' }));
  await backend.next();

  expect(before.status).toBe(503);
  expect(await before.text()).toContain('routes.json: cannot be read (ENOENT');
  expect(health.status).toBe(200);
  expect(after.status).toBe(200);
  client.reset();
});

test('logs how many routes a new version adds, changes and removes, and warns if none remain', async () => {
  const endpoints = ['127.0.0.1:1'];
  await using lab = await GatewayLab.start({
    routes: [{ host: 'a.test' }, { host: 'b.test' }, { host: 'c.test' }, { host: 'd.test' }],
  });
  const lines = () => lab.log.filter(({ msg }) => msg === 'routes updated');

  await lab.changeRoutes([
    { host: 'a.test' },
    { host: 'b.test', endpoints },
    { host: 'c.test', tenant: 'other' },
    { host: 'e.test' },
  ]);
  const warningsBefore = lab.log.filter(({ level }) => level === 'warn').length;
  await lab.changeRoutes([]);
  await until(() => lines().length === 3, 'the lines');

  expect(lines()).toMatchObject([
    { routes: 4, added: 4, changed: 0, removed: 0 },
    { routes: 4, added: 1, changed: 2, removed: 1 },
    { routes: 0, added: 0, changed: 0, removed: 4 },
  ]);
  expect(warningsBefore).toBe(0);
  expect(lab.log.find(({ level }) => level === 'warn')).toMatchObject({ removed: 4 });
});

test('keeps the last valid routes when the file becomes invalid, and logs it once', async () => {
  await using a = await Tenant.start('a.test');
  await using lab = await GatewayLab.start({ routes: [{ host: a.host, endpoints: [a.endpoint] }] });

  lab.writeRoutes('routes:\n  - {tenant: a, host: a..test, kind: api, endpoints: []}\n');
  await until(() => lab.number('routes_load_failures_total') === 1, 'the report');
  appendFileSync(join(lab.folder, 'neighbor'), 'x'); // an event without new content
  const client = await handshake(lab.port, a);

  expect(await echoed(client, 'as before')).toBe('as before');
  expect(lab.number('routes_last_load_successful')).toBe(0);
  expect(lab.number('routes')).toBe(1);
  expect((await lab.get('/readyz')).status).toBe(200);
  const [error, ...others] = errors(lab);
  expect(error).toContain('routes.json:2:23: ');
  expect(error).toContain('keeping the previous routes');
  expect(others).toEqual([]);
  client.destroy();
});

describe.each(['bun', 'epoll'] as const)('on engine %s', (engine) => {
  test('reloads under load without failed requests or dropped connections', async () => {
    await using a = await Tenant.start('a.test');
    await using b = await Tenant.start('b.test');
    const routes = [a, b].map(({ host, endpoint }) => ({ host, endpoints: [endpoint] }));
    await using lab = await GatewayLab.start({ engine, workers: 2, routes });
    const old = await handshake(lab.port, a);
    const state = { isOver: false, requests: 0 };
    const load = Promise.all(
      [a, b, a, b].map(async (tenant) => {
        while (!state.isOver) {
          const client = await handshake(lab.port, tenant);
          expect(await echoed(client, 'request')).toBe('request');
          client.destroy();
          state.requests++;
        }
      }),
    );

    for (let round = 0; round < 40; round++) {
      const extra = { host: `extra-${round}.test`, endpoints: ['127.0.0.1:1'] };
      const changed = routes.map((route) => ({ ...route, limits: { connections: 1000 + round } }));
      await lab.changeRoutes([...changed, extra]);
    }
    state.isOver = true;
    await load;

    expect(await echoed(old, 'all the time')).toBe('all the time');
    expect(state.requests).toBeGreaterThan(20);
    expect(lab.number('routes_loads_total')).toBe(41);
    expect(lab.number('routes')).toBe(3);
    const labels = (host: string, reason: string) =>
      `tenant="${host[0]}",host="${host}",kind="api",reason="${reason}"`;
    for (const reason of ['no_endpoint', 'dial_refused', 'fault', 'upstream_reset']) {
      expect(lab.number('tenant_failures_total', labels('a.test', reason))).toBe(0);
    }
    expect(lab.failures('name_unknown')).toBe(0);
    old.destroy();
  });
});

test('restores routes that were removed for a moment, with their connections and counts, even if they use more than half of the slots', async () => {
  await using a = await Tenant.start('a.test');
  const many = [
    { host: a.host, endpoints: [a.endpoint] },
    ...Array.from({ length: 599 }, (_, index) => ({ host: `tenant-${index}.test` })),
  ];
  await using lab = await GatewayLab.start({ workers: 2, maxRoutes: 1000, routes: many });
  const old = await handshake(lab.port, a);

  await lab.changeRoutes([]);
  await lab.changeRoutes(many);
  const client = await handshake(lab.port, a);

  expect(await echoed(old, 'all the time')).toBe('all the time');
  expect(await echoed(client, 'again')).toBe('again');
  const labels = 'tenant="a",host="a.test",kind="api"';
  expect(lab.number('tenant_connections_open', labels)).toBe(2);
  expect(errors(lab)).toEqual([]);
  old.destroy();
  client.destroy();
}, 240_000);

test('replaces all routes, even if they need more than the free slots', async () => {
  const routesNamed = (prefix: string) =>
    Array.from({ length: 600 }, (_, index) => ({ host: `${prefix}-${index}.test` }));
  await using lab = await GatewayLab.start({ maxRoutes: 1000, routes: routesNamed('old') });

  await lab.changeRoutes(routesNamed('new'));

  expect(lab.number('routes')).toBe(600);
  expect(lab.number('routes_last_load_successful')).toBe(1);
  expect(errors(lab)).toEqual([expect.stringContaining('200 routes wait for a free slot')]);
}, 240_000);

test('applies a change of one route among 10,000 in every thread', async () => {
  using backend = new Backend();
  const many = Array.from({ length: 10_000 }, (_, index) => ({
    host: `tenant-${index}.test`,
    endpoints: ['127.0.0.1:1'],
  }));
  await using lab = await GatewayLab.start({ workers: 2, routes: many });

  many[5000] = { host: 'tenant-5000.test', endpoints: [`127.0.0.1:${backend.port}`] };
  await lab.changeRoutes(many);
  for (let count = 0; count < 4; count++) {
    const client = await Peer.dial(lab.port);
    await client.send(hello({ serverName: 'tenant-5000.test' }));
    await backend.next();
  }

  expect(lab.number('routes')).toBe(10_000);
  expect(routesJson(many).length).toBeGreaterThan(500_000);
});
