/**
 * Decides where an address is on a node, and whether it is correct there. Does no I/O.
 */
import type { NodeAddress } from './route-message.ts';
import { ADDRESS_FLAG, SCOPE_HOST } from './rtnetlink.ts';

/** The place of an address. */
export type Placement =
  | { readonly kind: 'absent' }
  /** On the loopback interface with a full-length prefix, and never the source of other traffic. */
  | { readonly kind: 'right' }
  /** On the loopback interface with a full-length prefix, but other traffic may use it as its source. */
  | { readonly kind: 'open'; readonly found: NodeAddress }
  /** On the loopback interface with a shorter prefix, so with a whole network. */
  | { readonly kind: 'wide'; readonly found: NodeAddress }
  | { readonly kind: 'elsewhere'; readonly found: NodeAddress };

/**
 * Returns the place of an address. If another interface has it too, that one counts, because other machines see it
 * there.
 */
export function placementOf(
  address: string,
  present: readonly NodeAddress[],
  loopback: number,
): Placement {
  const existing = present.filter((other) => other.address === address);
  const elsewhere = existing.find(({ link }) => link !== loopback);
  if (elsewhere !== undefined) return { kind: 'elsewhere', found: elsewhere };
  const wide = existing.find((found) => !isAlone(found));
  if (wide !== undefined) return { kind: 'wide', found: wide };
  const [found] = existing;
  if (found === undefined) return { kind: 'absent' };
  return isClosed(found) ? { kind: 'right' } : { kind: 'open', found };
}

/** Reports whether the loopback interface has the address as Snicket adds it, even if another interface has it too. */
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

/** Returns the place as a message. */
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
