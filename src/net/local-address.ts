/**
 * Which addresses reach a listener on this machine.
 */
import { networkInterfaces } from 'node:os';
import { ipBytes } from '../wire/ip-address.ts';
import type { ListenAddress } from './listen-address.ts';

/**
 * Whether a connection to `target` reaches one of these listeners.
 * @param own - The addresses of this machine. Default: those of its network interfaces at the time of the call.
 */
export function reachesListener(
  listens: readonly ListenAddress[],
  target: ListenAddress,
  own: readonly string[] = ownAddresses(),
): boolean {
  const dialed = ipBytes(target.address);
  if (dialed === undefined) return false;
  return listens.some(({ address, port }) => {
    const listening = ipBytes(address);
    if (port !== target.port || listening?.length !== dialed.length) return false;
    const isWildcard = listening.every((byte) => byte === 0);
    return isWildcard
      ? isLoopback(dialed) || own.some((one) => isSame(ipBytes(one), dialed))
      : isSame(listening, dialed);
  });
}

function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((all = []) =>
    all.map(({ address }) => address),
  );
}

/** All of 127.0.0.0/8 reaches the machine itself, whatever addresses its interfaces have. */
function isLoopback(bytes: Uint8Array): boolean {
  return bytes.length === 4 && bytes[0] === 127;
}

function isSame(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a !== undefined && Buffer.compare(a, b) === 0;
}
