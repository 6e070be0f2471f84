import { expect, test } from 'bun:test';
import type { TLSSocket } from 'node:tls';
import { ApiServer } from '../../proxy/testing/api-server.ts';
import { TestAuthority } from '../../net/testing/certificates.ts';
import { dialTcp } from '../dial.ts';
import { EdgeConnection } from './edge-connection.ts';

const LIMITS = { timeoutMs: 20_000 };

test('closes a connection on which the server sends without end', async () => {
  const serving = await (await TestAuthority.create('edge')).issue({ names: ['a.k8s.test'] });
  await using server = await ApiServer.start({ serving, onConnection: flood });
  const edge = { address: '127.0.0.1', port: server.port, dial: dialTcp };
  using connection = await EdgeConnection.open(edge, { serverName: 'a.k8s.test' }, LIMITS);

  let longest = 0;
  const end = await connection.receive((received) => {
    longest = Math.max(longest, received.length);
    return undefined;
  }, LIMITS);

  expect(end).toBe('ended');
  expect(longest).toBeGreaterThan(0);
  expect(longest).toBeLessThanOrEqual(1024 * 1024);
});

function flood(socket: TLSSocket): void {
  const chunk = Buffer.alloc(16 * 1024);
  const write = () => {
    while (!socket.destroyed && socket.write(chunk)) continue;
  };
  socket.on('drain', write).on('error', () => socket.destroy());
  write();
}
