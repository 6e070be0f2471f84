import { expect, test } from 'bun:test';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { ManualClock } from '../../../clock/manual-clock.ts';
import { TestAuthority } from '../../../net/testing/certificates.ts';
import { until } from '../../../net/testing/peer.ts';
import { TenantLinks } from './tenant-links.ts';

/** A kubeconfig for a server whose certificate is of this CA. */
function kubeconfigOf(ca: string): string {
  const cluster = {
    server: 'https://kubernetes.default.svc',
    'certificate-authority-data': Buffer.from(ca).toString('base64'),
  };
  return JSON.stringify({
    'current-context': 'tenant',
    contexts: [{ name: 'tenant', context: { cluster: 'tenant', user: 'admin' } }],
    clusters: [{ name: 'tenant', cluster }],
    users: [{ name: 'admin', user: { token: 'secret' } }],
  });
}

test('the time limits of a connection to a tenant use the clock of the links', async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket.on('error', () => {})));
  await new Promise<void>((resolve) => {
    silent.listen(0, '127.0.0.1', () => resolve());
  });
  const { port } = silent.address() as AddressInfo;
  const clock = new ManualClock();
  const links = new TenantLinks({
    clock,
    random: Math.random,
    freshMs: 0,
    onChange: () => {},
    isOwned: () => true,
  });
  const { cert } = await TestAuthority.create();

  const link = links.open('tenants/blue', {
    kubeconfig: kubeconfigOf(cert),
    addresses: [`127.0.0.1:${port}`],
    watchesNodes: false,
  });
  if ('code' in link) throw new Error(link.message);
  const failed = link.client.version().catch((error: unknown) => error);
  await until(() => sockets.length > 0, 'a connection');
  clock.advance(10_000);

  expect(String(await failed)).toContain('the handshake was not completed in time');
  links.closeAll();
  for (const socket of sockets) socket.destroy();
  silent.close();
});
