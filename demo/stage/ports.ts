import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Given away already: who was to listen there may not do so yet. */
const given = new Set<number>();

/** How many ports are tried before any is taken. */
const TRIES = 10;

/** A port of loopback on which nobody listens: the one that is wished for or one of the next, else any. */
export async function freePort(wished: number): Promise<number> {
  const near = Array.from({ length: TRIES }, (_, index) => wished + index);
  for (const port of [...near, await anyPort()]) {
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
  throw new Error(`no port of 127.0.0.1 is free, neither ${wished} nor another`);
}

/** Addresses of the machine itself: names below `localhost` may lead to both (RFC 6761), where there are both. */
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
 * A port on which one can listen; undefined if somebody does. Programs of Snicket share ports (SO_REUSEPORT), so that they
 * would not notice the others; this does not share.
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
