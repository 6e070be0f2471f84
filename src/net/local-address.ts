/** Determines which addresses reach a listener on this machine. */
import { networkInterfaces } from 'node:os';
import { ipBytes } from '../wire/ip-address.ts';
import type { ListenAddress } from './listen-address.ts';

/**
 * Reports whether a connection to `target` reaches one of these listeners.
 * @param localAddresses - The addresses of this machine. Default: the current addresses of its network interfaces.
 */
export function reachesListener(
  listeners: readonly ListenAddress[],
  target: ListenAddress,
  localAddresses: readonly string[] = interfaceAddresses(),
): boolean {
  const targetBytes = ipBytes(target.address);
  if (targetBytes === undefined) return false;
  return listeners.some(({ address, port }) => {
    const listenBytes = ipBytes(address);
    if (port !== target.port || listenBytes?.length !== targetBytes.length) return false;
    const isWildcard = listenBytes.every((byte) => byte === 0);
    return isWildcard
      ? isLoopback(targetBytes) ||
          localAddresses.some((local) => isSame(ipBytes(local), targetBytes))
      : isSame(listenBytes, targetBytes);
  });
}

function interfaceAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((all = []) =>
    all.map(({ address }) => address),
  );
}

/** All of 127.0.0.0/8 reaches the machine, even addresses that no interface has. */
function isLoopback(bytes: Uint8Array): boolean {
  return bytes.length === 4 && bytes[0] === 127;
}

function isSame(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a !== undefined && Buffer.compare(a, b) === 0;
}
