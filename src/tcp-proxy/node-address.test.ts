import { expect, test } from 'bun:test';
import { networkInterfaces } from 'node:os';
import { localAddressTo } from './node-address.ts';

const outward = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address;

test.skipIf(outward === undefined)(
  'returns the source address of connections to the upstream',
  async () => {
    using server = Bun.listen({ hostname: '0.0.0.0', port: 0, socket: { data: () => {} } });

    const address = await localAddressTo(
      { host: outward!, port: server.port },
      AbortSignal.timeout(200_000),
    );

    expect(address).toBe(outward!);
  },
);

test('rejects a loopback address', async () => {
  using server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } });

  const detected = localAddressTo(
    { host: '127.0.0.1', port: server.port },
    AbortSignal.timeout(200_000),
  );

  await expect(detected).rejects.toThrow(
    'which is a loopback address; set POD_IP from status.podIP',
  );
});

test('throws while the upstream cannot be reached', async () => {
  const detected = localAddressTo({ host: '127.0.0.1', port: 1 }, AbortSignal.timeout(200_000));

  await expect(detected).rejects.toThrow('127.0.0.1:1 cannot be reached to find out');
});

test('stops waiting when the signal is aborted', async () => {
  const detected = localAddressTo({ host: '192.0.2.1', port: 1 }, AbortSignal.abort());

  await expect(detected).rejects.toThrow('timeout');
});
