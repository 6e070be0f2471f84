import { expect, test } from 'bun:test';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { freePort } from './ports.ts';

test('a port that is free is given once', async () => {
  const desired = await anyPort();

  expect(await freePort(desired)).toBe(desired);
  expect(await freePort(desired)).not.toBe(desired);
});

test('a port on which somebody listens is not given, though it could be shared', async () => {
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
