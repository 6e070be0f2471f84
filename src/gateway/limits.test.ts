import { describe, expect, test } from 'bun:test';
import { Backend, Peer } from '../net/testing/peer.ts';
import { readAlert } from '../wire/alert.ts';
import { hello } from '../wire/hello/hello-builder.ts';
import { GatewayLab, until, type LabOptions } from './testing/lab.ts';

const HELLO = hello({ serverName: 'a.test' });

async function start(options: LabOptions, limits = {}) {
  const backend = new Backend();
  const endpoints = [`127.0.0.1:${backend.port}`];
  const routes = [
    { host: 'a.test', endpoints, limits },
    { host: 'b.test', endpoints },
  ];
  const lab = await GatewayLab.start({ workers: 2, routes, ...options });
  return {
    backend,
    lab,
    async [Symbol.asyncDispose]() {
      await lab[Symbol.asyncDispose]();
      backend[Symbol.dispose]();
    },
  };
}

/** Connects and waits until the client is connected to the backend or refused. */
async function connect(world: { lab: GatewayLab; backend: Backend }, bytes = HELLO) {
  const before = world.backend.peers.length;
  const client = await Peer.dial(world.lab.port);
  await client.send(bytes);
  await until(
    () => world.backend.peers.length > before || client.sawFin || client.closed,
    'a connection or a refusal',
  );
  return client;
}

describe.each(['bun', 'epoll'] as const)('on engine %s', (engine) => {
  test("enforces a route's connection limit over all threads, and admits a client after another has closed", async () => {
    await using world = await start({ engine }, { connections: 5 });
    const clients: Peer[] = [];
    for (let count = 0; count < 8; count++) clients.push(await connect(world));

    const refused = clients.filter(({ sawFin }) => sawFin);
    const other = await connect(world, hello({ serverName: 'b.test' }));
    clients[0]?.reset();
    await until(
      () => world.lab.number('connections_open') < 6 + refused.length,
      'a closed connection',
    );
    await until(async () => !(await connect(world)).sawFin, 'an admitted client');

    expect(refused).toHaveLength(3);
    expect(readAlert(refused[0]!.bytes())?.name).toBe('internal_error');
    expect(other.sawFin).toBeFalse();
    expect(world.lab.failures('tenant_connections_limit')).toBeGreaterThanOrEqual(3);
    const labels = 'tenant="a",host="a.test",kind="api",reason="tenant_connections_limit"';
    expect(world.lab.number('tenant_failures_total', labels)).toBeGreaterThanOrEqual(3);
  });

  test('enforces the default connection rate per route over all threads', async () => {
    const tenantLimits = { connections: 0, connectionsPerSecond: 4 };
    await using world = await start({ engine, tenantLimits });
    const beginMs = performance.now();

    const clients = await Promise.all(Array.from({ length: 20 }, async () => connect(world)));
    const labels = 'tenant="a",host="a.test",kind="api"';
    const dialed = () => world.lab.number('tenant_connections_total', labels);
    const refused = () => clients.filter(({ sawFin }) => sawFin).length;
    await until(() => dialed() + refused() === 20, 'a result for each client');
    const seconds = (performance.now() - beginMs) / 1000;
    const other = await connect(world, hello({ serverName: 'b.test' }));

    // The burst of one second, plus the connections that the rate allows during the test.
    expect(dialed()).toBeGreaterThanOrEqual(4);
    expect(dialed()).toBeLessThanOrEqual(5 + 4 * seconds);
    expect(world.lab.failures('tenant_rate_limit')).toBe(refused());
    expect(other.sawFin).toBeFalse();
  });

  test.each([
    ['a client outside the networks', ['10.0.0.0/8'], 1],
    ['no client inside the networks', ['127.0.0.0/8'], 0],
  ])('limits unfinished hellos of %s of --proxy-protocol', async (_, proxyProtocol, refused) => {
    await using world = await start({ engine, workers: 1, proxyProtocol });
    const limit = 1000;

    const clients: Peer[] = [];
    while (clients.length <= limit) clients.push(await Peer.dial(world.lab.port));
    const counted = () => world.lab.number('hellos_pending') + world.lab.failures('source_limit');
    await until(() => counted() === clients.length, 'a result for each client');

    expect(world.lab.failures('source_limit')).toBe(refused);
    for (const client of clients) client.reset();
  });

  test('enforces the connection limit of the gateway over all threads', async () => {
    await using world = await start({ engine, maxConnections: 6 });

    const clients: Peer[] = [];
    for (let count = 0; count < 7; count++) clients.push(await connect(world));

    await until(() => world.lab.failures('connections_limit') >= 1, 'the refusal');
    expect(clients.filter(({ sawFin, closed }) => sawFin || closed)).toHaveLength(1);
  });
});
