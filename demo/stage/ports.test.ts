import { expect, test } from 'bun:test';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { freePort } from './ports.ts';

test('returns a free port only once', async () => {
  const desired = await anyPort();

  expect(await freePort(desired)).toBe(desired);
  expect(await freePort(desired)).not.toBe(desired);
});

test('does not return a port that another program listens on with SO_REUSEPORT', async () => {
  const options = {
    hostname: '127.0.0.1',
    port: 0,
    reusePort: true,
    socket: { data: () => {} },
  };
  using occupant = Bun.listen(options);

  expect(await freePort(occupant.port)).not.toBe(occupant.port);
});

async function anyPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
