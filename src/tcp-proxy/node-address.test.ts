import { expect, test } from 'bun:test';
import { networkInterfaces } from 'node:os';
import { addressTowards } from './node-address.ts';

const outward = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address;

test.skipIf(outward === undefined)('is the one that the upstream is reached from', async () => {
  using server = Bun.listen({ hostname: '0.0.0.0', port: 0, socket: { data: () => {} } });

  const address = await addressTowards(
    { host: outward!, port: server.port },
    AbortSignal.timeout(200_000),
  );

  expect(address).toBe(outward!);
});

test('is none if that is a loopback address', async () => {
  using server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } });

  const asked = addressTowards(
    { host: '127.0.0.1', port: server.port },
    AbortSignal.timeout(200_000),
  );

  await expect(asked).rejects.toThrow('which is a loopback address; set POD_IP from status.podIP');
});

test('is not known while the upstream cannot be reached', async () => {
  const asked = addressTowards({ host: '127.0.0.1', port: 1 }, AbortSignal.timeout(200_000));

  await expect(asked).rejects.toThrow('127.0.0.1:1 cannot be reached to find out');
});

test('stops waiting when the signal is aborted', async () => {
  const asked = addressTowards({ host: '192.0.2.1', port: 1 }, AbortSignal.abort());

  await expect(asked).rejects.toThrow('timeout');
});
