/**
 * Where the listeners of this machine are reached.
 */
import { networkInterfaces } from 'node:os';
import { ipBytes } from '../../wire/ip-address.ts';
import type { ListenAddress } from './listen-address.ts';

/** Whether who dials this place comes to one of these listeners. `own` are the addresses of the machine, as they are now. */
export function isReachedAt(
  listens: readonly ListenAddress[],
  place: ListenAddress,
  own: readonly string[] = ownAddresses(),
): boolean {
  const dialled = ipBytes(place.address);
  if (dialled === undefined) return false;
  return listens.some(({ address, port }) => {
    const listening = ipBytes(address);
    if (port !== place.port || listening?.length !== dialled.length) return false;
    const isWildcard = listening.every((byte) => byte === 0);
    return isWildcard
      ? isLoopback(dialled) || own.some((one) => isSame(ipBytes(one), dialled))
      : isSame(listening, dialled);
  });
}

function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((all = []) =>
    all.map(({ address }) => address),
  );
}

/** All of 127.0.0.0/8 leads to the machine itself, whatever its interfaces say. */
function isLoopback(bytes: Uint8Array): boolean {
  return bytes.length === 4 && bytes[0] === 127;
}

function isSame(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a !== undefined && Buffer.compare(a, b) === 0;
}
