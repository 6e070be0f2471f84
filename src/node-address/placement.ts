/**
 * Where an address is on a node, and whether it is there as it should be. Decides, and touches nothing.
 */
import type { NodeAddress } from './route-message.ts';
import { ADDRESS_FLAG, SCOPE_HOST } from './rtnetlink.ts';

/** Where an address is. */
export type Placement =
  | { readonly kind: 'absent' }
  /** On the loopback interface, for itself alone, and never the source of other traffic. */
  | { readonly kind: 'right' }
  /** On the loopback interface for itself alone, but open to be a source. */
  | { readonly kind: 'open'; readonly found: NodeAddress }
  /** On the loopback interface with a whole network. */
  | { readonly kind: 'wide'; readonly found: NodeAddress }
  | { readonly kind: 'elsewhere'; readonly found: NodeAddress };

/** Where the address is. One that is on another interface too is elsewhere: that interface is what others see. */
export function placementOf(
  address: string,
  present: readonly NodeAddress[],
  loopback: number,
): Placement {
  const held = present.filter((other) => other.address === address);
  const elsewhere = held.find(({ link }) => link !== loopback);
  if (elsewhere !== undefined) return { kind: 'elsewhere', found: elsewhere };
  const wide = held.find((found) => !isAlone(found));
  if (wide !== undefined) return { kind: 'wide', found: wide };
  const [found] = held;
  if (found === undefined) return { kind: 'absent' };
  return isClosed(found) ? { kind: 'right' } : { kind: 'open', found };
}

/** Whether it is on the loopback interface as we put it there, wherever else it is. */
export function isOurs(
  address: string,
  present: readonly NodeAddress[],
  loopback: number,
): boolean {
  return present.some(
    (found) =>
      found.address === address && found.link === loopback && isAlone(found) && isClosed(found),
  );
}

/** The same as a sentence. */
export function placementText(
  address: string,
  placement: Placement,
  nameOf: (link: number) => string,
): string {
  switch (placement.kind) {
    case 'absent':
      return `${address} is not on lo`;
    case 'right':
      return `${address} is on lo`;
    case 'open':
      return `${address} is on lo, but may become the source of other traffic (${address.includes(':') ? 'it has a preferred lifetime' : 'its scope is not host'})`;
    case 'wide':
      return `${address} is on lo as ${address}/${placement.found.prefixLength}, which draws a whole network to this machine`;
    case 'elsewhere':
      return `${address} is an address of interface ${nameOf(placement.found.link)}`;
  }
}

function isAlone({ address, prefixLength }: NodeAddress): boolean {
  return prefixLength === (address.includes(':') ? 128 : 32);
}

function isClosed({ address, scope, flags }: NodeAddress): boolean {
  return address.includes(':') ? (flags & ADDRESS_FLAG.DEPRECATED) !== 0 : scope === SCOPE_HOST;
}
