import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Ports that were already returned. Their programs may not listen yet. */
const returned = new Set<number>();

/** Number of ports to try before an arbitrary port. */
const ATTEMPTS = 10;

/** Returns a free port on loopback: the desired port, one of the next ports, or an arbitrary port. */
export async function freePort(desired: number): Promise<number> {
  const preferred = Array.from({ length: ATTEMPTS }, (_, index) => desired + index);
  for (const port of [...preferred, await anyPort()]) {
    if (returned.has(port) || !(await isFree(port))) continue;
    returned.add(port);
    return port;
  }
  throw new Error(
    `no free port on 127.0.0.1: tried ${desired} to ${desired + ATTEMPTS - 1} and an arbitrary port`,
  );
}

/** Returns the loopback addresses of this machine. Names below `localhost` may resolve to both (RFC 6761). */
export function loopbackAddresses(): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return ['127.0.0.1', '::1'].filter((loopback) => all.some(({ address }) => address === loopback));
}

async function isFree(port: number): Promise<boolean> {
  for (const address of loopbackAddresses()) {
    if ((await tryListen(port, address)) === undefined) return false;
  }
  return true;
}

async function anyPort(): Promise<number> {
  return (await tryListen(0, '127.0.0.1')) ?? 0;
}

/**
 * Returns a port that is free to listen on; undefined if it is in use. It does not set SO_REUSEPORT, so it notices
 * Snicket's programs, which share their ports.
 */
async function tryListen(port: number, address: string): Promise<number | undefined> {
  const server = createServer();
  try {
    server.listen(port, address);
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw error;
  } finally {
    server.close();
  }
}
