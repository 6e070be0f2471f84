/** Determines which interface of a node has an address, and with which properties. Does no I/O. */
import type { NodeAddress } from './route-message.ts';
import { ADDRESS_FLAG, SCOPE_HOST } from './rtnetlink.ts';

/** The interface and the properties of an address. */
export type Placement =
  | { readonly kind: 'absent' }
  /** On the loopback interface with a full-length prefix, and never the source of other traffic. */
  | { readonly kind: 'correct' }
  /** On the loopback interface with a full-length prefix, but other traffic may use it as its source. */
  | { readonly kind: 'source-eligible'; readonly found: NodeAddress }
  /** On the loopback interface with a shorter prefix, which adds a route for a whole network. */
  | { readonly kind: 'network'; readonly found: NodeAddress }
  | { readonly kind: 'other-interface'; readonly found: NodeAddress };

/**
 * Returns the placement of an address. If another interface has it too, that interface counts, because other machines
 * reach the address there.
 */
export function placementOf(
  address: string,
  present: readonly NodeAddress[],
  loopback: number,
): Placement {
  const existing = present.filter((other) => other.address === address);
  const onOtherInterface = existing.find(({ link }) => link !== loopback);
  if (onOtherInterface !== undefined) return { kind: 'other-interface', found: onOtherInterface };
  const asNetwork = existing.find((found) => !hasFullPrefix(found));
  if (asNetwork !== undefined) return { kind: 'network', found: asNetwork };
  const [found] = existing;
  if (found === undefined) return { kind: 'absent' };
  return isExcludedAsSource(found) ? { kind: 'correct' } : { kind: 'source-eligible', found };
}

/** Reports whether the loopback interface has the address with the properties that Snicket sets. */
export function isAddedBySnicket(
  address: string,
  present: readonly NodeAddress[],
  loopback: number,
): boolean {
  return present.some(
    (found) =>
      found.address === address &&
      found.link === loopback &&
      hasFullPrefix(found) &&
      isExcludedAsSource(found),
  );
}

/** Returns the placement as a message. */
export function placementText(
  address: string,
  placement: Placement,
  nameOf: (link: number) => string,
): string {
  switch (placement.kind) {
    case 'absent':
      return `${address} is not on lo`;
    case 'correct':
      return `${address} is on lo`;
    case 'source-eligible':
      return `${address} is on lo, but may become the source of other traffic (${address.includes(':') ? 'it has a preferred lifetime' : 'its scope is not host'})`;
    case 'network':
      return `${address} is on lo as ${address}/${placement.found.prefixLength}, which routes the whole network to this machine`;
    case 'other-interface':
      return `${address} is an address of interface ${nameOf(placement.found.link)}`;
  }
}

function hasFullPrefix({ address, prefixLength }: NodeAddress): boolean {
  return prefixLength === (address.includes(':') ? 128 : 32);
}

function isExcludedAsSource({ address, scope, flags }: NodeAddress): boolean {
  return address.includes(':') ? (flags & ADDRESS_FLAG.DEPRECATED) !== 0 : scope === SCOPE_HOST;
}
