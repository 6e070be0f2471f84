/**
 * The addresses at which listeners of this machine are reached.
 */
import { networkInterfaces } from 'node:os';
import type { ListenAddress } from './listen-address.ts';

/** The addresses that this machine has now, those of its loopback device among them. */
export function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((all = []) =>
    all.map(({ address }) => address),
  );
}

/** The same places, with each address of the machine in place of a wildcard. */
export function placesReached(
  listens: readonly ListenAddress[],
  own: readonly string[] = ownAddresses(),
): readonly ListenAddress[] {
  return listens.flatMap(({ address, port }) => {
    if (address !== '0.0.0.0' && address !== '::') return [{ address, port }];
    const isOfFamily = (one: string) => one.includes(':') === address.includes(':');
    return own.filter(isOfFamily).map((one) => ({ address: one, port }));
  });
}
