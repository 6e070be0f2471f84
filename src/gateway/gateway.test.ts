import { describe, expect, test } from 'bun:test';
import { freePort } from '../net/testing/free-port.ts';
import { Backend, Peer } from '../net/testing/peer.ts';
import { readAlert } from '../wire/alert.ts';
import { hello } from '../wire/hello/hello-builder.ts';
import { GatewayLab, until } from './testing/lab.ts';
import { echoed, handshake, Tenant } from './testing/tls.ts';

describe.each(['bun', 'epoll'] as const)('on engine %s', (engine) => {
  test('routes each client to the tenant named in its hello, which presents its own certificate', async () => {
    await using a = await Tenant.start('a.k8s.test');
    await using b = await Tenant.start('b.k8s.test');
    await using lab = await GatewayLab.start({
      engine,
      workers: 2,
      routes: [a, b].map(({ host, endpoint }) => ({ host, endpoints: [endpoint] })),
    });

    for (const tenant of [a, b, a]) {
      const client = await handshake(lab.port, tenant);
      expect(await echoed(client, `hello ${tenant.host}`)).toBe(`hello ${tenant.host}`);
      client.end();
    }

    expect(a.names).toEqual(['a.k8s.test', 'a.k8s.test']);
    expect(b.names).toEqual(['b.k8s.test']);
    await until(() => lab.number('connections_open') === 0, 'all closed');
    const labels = 'tenant="a",host="a.k8s.test",kind="api"';
    expect(lab.number('tenant_connections_total', labels)).toBe(2);
    expect(lab.number('tenant_received_bytes_total', labels)).toBeGreaterThan(400);
    expect(lab.number('tenant_sent_bytes_total', labels)).toBeGreaterThan(400);
    expect(lab.number('tenant_dial_duration_seconds_count', labels)).toBe(2);
  });

  test('accepts and dials on IPv6', async () => {
    await using a = await Tenant.start('a.k8s.test', '::1');
    await using lab = await GatewayLab.start({
      engine,
      listen: [{ address: '::1', port: 0 }],
      routes: [{ host: a.host, endpoints: [a.endpoint] }],
    });

    const client = await handshake(lab.port, a, { address: '::1' });

    expect(await echoed(client, 'over six')).toBe('over six');
    client.destroy();
  });

  test('ignores the case of server names', async () => {
    await using a = await Tenant.start('a.k8s.test');
    await using lab = await GatewayLab.start({
      engine,
      routes: [{ host: 'A.k8s.TEST', endpoints: [a.endpoint] }],
    });

    const client = await Peer.dial(lab.port);
    await client.send(hello({ serverName: 'a.K8S.test' }));

    await until(() => a.connections === 1, 'the connection at the tenant');
    client.reset();
  });

  test('dials the endpoints round-robin', async () => {
    using first = new Backend();
    using second = new Backend();
    using third = new Backend();
    const backends = [first, second, third];
    const endpoints = backends.map(({ port }) => `127.0.0.1:${port}`);
    await using lab = await GatewayLab.start({ engine, routes: [{ host: 'a.test', endpoints }] });

    for (let round = 1; round <= 6; round++) {
      const client = await Peer.dial(lab.port);
      await client.send(hello({ serverName: 'a.test' }));
      await until(() => sum(backends) === round, 'the next connection');
    }

    expect(backends.map(({ peers }) => peers.length)).toEqual([2, 2, 2]);
  });

  test('tries the next endpoint when one refuses, and backs off from the refusing one', async () => {
    using working = new Backend();
    const refusing = `127.0.0.1:${freePort()}`;
    const endpoints = [refusing, `127.0.0.1:${working.port}`];
    await using lab = await GatewayLab.start({ engine, routes: [{ host: 'a.test', endpoints }] });
    const startMs = performance.now();

    for (let round = 1; round <= 6; round++) {
      const client = await Peer.dial(lab.port);
      await client.send(hello({ serverName: 'a.test' }));
      await until(() => working.peers.length === round, 'a connection at the working endpoint');
    }

    // An endpoint backs off for a second or more: see load-balancer.test.ts.
    const seconds = Math.floor((performance.now() - startMs) / 1000);
    expect(lab.failures('dial_refused')).toBeWithin(1, Math.min(2 + seconds, 6));
    expect(lab.failures('no_endpoint')).toBe(0);
  });

  test.each([
    ['no endpoint', [], 0],
    ['no endpoint that accepts', ['127.0.0.1:1', '127.0.0.2:1'], 2],
  ] as const)('answers internal_error if there is %s', async (_what, endpoints, dials) => {
    await using lab = await GatewayLab.start({ engine, routes: [{ host: 'a.test', endpoints }] });

    const client = await Peer.dial(lab.port);
    await client.send(hello({ serverName: 'a.test' }));
    await until(() => client.sawFin, 'the answer');

    expect(readAlert(client.bytes())?.name).toBe('internal_error');
    expect(lab.failures('no_endpoint')).toBe(1);
    expect(lab.failures('dial_refused')).toBe(dials);
    const labels = 'tenant="a",host="a.test",kind="api",reason="no_endpoint"';
    expect(lab.number('tenant_failures_total', labels)).toBe(1);
  });

  test('forwards bytes to a client that has sent its FIN', async () => {
    using backend = new Backend();
    const endpoints = [`127.0.0.1:${backend.port}`];
    await using lab = await GatewayLab.start({ engine, routes: [{ host: 'a.test', endpoints }] });
    const client = await Peer.dial(lab.port);
    await client.send(hello({ serverName: 'a.test' }));
    client.fin();
    const upstream = await backend.next();
    await until(() => upstream.sawFin, 'the FIN of the client');

    await upstream.send(Buffer.from('after your FIN'));
    upstream.fin();
    await until(() => client.sawFin, 'the FIN of the tenant');

    expect(client.bytes().toString()).toBe('after your FIN');
  });

  test('applies a new routes file to new connections, and keeps open connections', async () => {
    await using a = await Tenant.start('a.k8s.test');
    await using b = await Tenant.start('b.k8s.test');
    await using lab = await GatewayLab.start({
      engine,
      workers: 2,
      routes: [{ host: a.host, endpoints: [a.endpoint] }],
    });
    const old = await handshake(lab.port, a);

    await lab.changeRoutes([{ host: b.host, endpoints: [b.endpoint] }]);
    const added = await handshake(lab.port, b);
    const refused = await Peer.dial(lab.port);
    await refused.send(hello({ serverName: a.host }));
    await until(() => refused.sawFin, 'the refusal');

    expect(await echoed(old, 'still here')).toBe('still here');
    expect(await echoed(added, 'new here')).toBe('new here');
    expect(readAlert(refused.bytes())?.name).toBe('unrecognized_name');
    old.destroy();
    added.destroy();
  });

  test('keeps a connection whose tenant never answers', async () => {
    using silent = new Backend();
    const endpoints = [`127.0.0.1:${silent.port}`];
    await using lab = await GatewayLab.start({ engine, routes: [{ host: 'a.test', endpoints }] });

    const client = await Peer.dial(lab.port);
    await client.send(hello({ serverName: 'a.test' }));
    const upstream = await silent.next();
    await until(() => upstream.received > 0, 'the hello');

    expect(client.closed || client.sawFin).toBeFalse();
    expect(lab.number('connections_open')).toBe(1);
    client.reset();
    await until(() => upstream.closed, 'the reset at the tenant');
  });

  test('restarts a crashed thread with the current routes', async () => {
    await using a = await Tenant.start('a.k8s.test');
    await using b = await Tenant.start('b.k8s.test');
    await using lab = await GatewayLab.start({
      engine,
      routes: [{ host: a.host, endpoints: [a.endpoint] }],
    });
    await lab.changeRoutes([a, b].map(({ host, endpoint }) => ({ host, endpoints: [endpoint] })));
    const lost = await handshake(lab.port, a);

    // The thread cannot apply this message and throws outside of any connection.
    lab.gateway.threads.all[0]!.send({ type: 'routes', version: 9, changes: null! });
    await until(() => lab.number('thread_crashes_total') === 1, 'the crash');
    await until(() => lab.number('threads_listening') === 1, 'the restart');
    await until(() => lost.destroyed, 'the end of the connection of the crashed thread');
    const client = await handshake(lab.port, b);

    expect(await echoed(client, 'back')).toBe('back');
    expect(lab.number('connections_open')).toBe(1);
    expect(lab.log.map(({ msg }) => msg)).toContain(
      'engine thread crashed, its connections are lost',
    );
    lost.destroy();
    client.destroy();
  });
});

function sum(backends: readonly Backend[]): number {
  return backends.reduce((total, { peers }) => total + peers.length, 0);
}

test('warns if another process listens on the same port', async () => {
  await using first = await GatewayLab.start();
  const listen = [{ address: '127.0.0.1', port: first.port }];

  await using second = await GatewayLab.start({ listen });

  const warnings = (lab: GatewayLab) =>
    lab.log.filter(({ level }) => level === 'warn').map(({ msg, address }) => ({ msg, address }));
  expect(warnings(first)).toEqual([]);
  expect(warnings(second)).toEqual([
    {
      msg: 'another process listens on the same address and receives part of the connections; stop one of the two',
      address: `127.0.0.1:${first.port}`,
    },
  ]);
});
