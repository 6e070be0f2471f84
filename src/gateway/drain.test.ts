import { expect, test } from 'bun:test';
import { ManualClock } from '../clock/manual-clock.ts';
import { Backend, Peer } from '../net/testing/peer.ts';
import { hello } from '../wire/hello/hello-builder.ts';
import { GatewayLab, until } from './testing/lab.ts';

const HELLO = hello({ serverName: 'a.test' });

test('closes no connection within the grace period, then all spread over the drain period', async () => {
  using backend = new Backend();
  const clock = new ManualClock();
  await using lab = await GatewayLab.start({
    workers: 2,
    graceMs: 1000,
    drainMs: 4000,
    clock,
    routes: [{ host: 'a.test', endpoints: [`127.0.0.1:${backend.port}`] }],
  });
  const clients: Peer[] = [];
  const connect = async () => {
    const client = await Peer.dial(lab.port);
    await client.send(HELLO);
    clients.push(client);
    await until(() => backend.peers.length === clients.length, 'the connection at the tenant');
  };
  const open = () => lab.number('connections_open');
  for (let count = 0; count < 99; count++) await connect();

  const draining = lab.gateway.drain();
  clock.advance(990);
  await connect();

  expect(open()).toBe(100);
  expect(lab.gateway.notReady()).toStartWith('draining');
  clock.advance(10);
  for (const remaining of [75, 50, 25]) {
    clock.advance(1000);
    // Each thread may deviate by one connection.
    await until(() => open() <= remaining + 2, `${remaining} connections left`);
    expect(open()).toBeGreaterThanOrEqual(remaining - 2);
  }
  clock.advance(1000);
  await until(() => clients.every((client) => client.sawFin || client.closed), 'no client left');
  // A thread may report its last connection late. The drain then ends after two more seconds.
  clock.advance(2000);
  await draining;
  for (const client of clients) client.close();
});
