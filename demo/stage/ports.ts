import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Ports that were already returned. Their programs may not listen yet. */
const given = new Set<number>();

/** Number of ports that are tried before an arbitrary one. */
const TRIES = 10;

/** Returns a free port of loopback: the preferred one, one of the next, or an arbitrary one. */
export async function freePort(desired: number): Promise<number> {
  const near = Array.from({ length: TRIES }, (_, index) => desired + index);
  for (const port of [...near, await anyPort()]) {
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
  throw new Error(
    `no free port on 127.0.0.1: tried ${desired} to ${desired + TRIES - 1} and an arbitrary one`,
  );
}

/** Returns the loopback addresses of this machine. Names below `localhost` may resolve to both (RFC 6761). */
export function loopbackAddresses(): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return ['127.0.0.1', '::1'].filter((loopback) => all.some(({ address }) => address === loopback));
}

async function isFree(port: number): Promise<boolean> {
  for (const address of loopbackAddresses()) {
    if ((await listened(port, address)) === undefined) return false;
  }
  return true;
}

async function anyPort(): Promise<number> {
  return (await listened(0, '127.0.0.1')) ?? 0;
}

/**
 * Returns a port that is free to listen on; undefined if it is in use. It does not set SO_REUSEPORT, so it notices
 * Snicket's programs, which share their ports.
 */
async function listened(port: number, address: string): Promise<number | undefined> {
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
