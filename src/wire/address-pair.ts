/**
 * Source and destination of a connection, in the form that a PROXY header carries.
 */
import { uint16, uint8 } from './bytes.ts';
import { ipBytes } from './ip-address.ts';

/** The address families that Snicket's PROXY headers can carry. */
export type AddressFamily = 'ipv4' | 'ipv6';

/** Source and destination of a connection. Addresses are in network byte order, of 4 or 16 bytes. */
export interface AddressPair {
  readonly family: AddressFamily;
  readonly source: Uint8Array;
  readonly sourcePort: number;
  readonly destination: Uint8Array;
  readonly destinationPort: number;
}

/** Returns the length of one address in bytes. */
export function addressBytes(family: AddressFamily): number {
  return family === 'ipv4' ? 4 : 16;
}

/**
 * Creates a pair from addresses as text, as sockets report them. An IPv4-mapped IPv6 address (`::ffff:10.0.0.1`, from a
 * dual-stack socket) becomes IPv4 again. If only one address is IPv4, it becomes an IPv4-mapped one.
 *
 * @throws TypeError if one of them is not an address.
 */
export function addressPair(
  source: string,
  sourcePort: number,
  destination: string,
  destinationPort: number,
): AddressPair {
  const from = parseAddress(source);
  const to = parseAddress(destination);
  if (from.length === to.length) {
    const family = from.length === 4 ? 'ipv4' : 'ipv6';
    return { family, source: from, sourcePort, destination: to, destinationPort };
  }
  return {
    family: 'ipv6',
    source: asIPv6(from),
    sourcePort,
    destination: asIPv6(to),
    destinationPort,
  };
}

/**
 * Returns the 4 or 16 bytes of an address. A zone (`%eth0`) is ignored.
 *
 * @throws TypeError if it is not an address.
 */
export function parseAddress(text: string): Uint8Array {
  const [address = ''] = text.split('%');
  const bytes = ipBytes(address);
  if (bytes === undefined) throw new TypeError(`'${text}' is not an IP address`);
  return bytes.length === 16 && isMapped(bytes) ? bytes.subarray(12) : bytes;
}

/** Formats the address at `at`, IPv6 by RFC 5952. */
export function formatAddress(bytes: Uint8Array, at: number, family: AddressFamily): string {
  if (family === 'ipv4') return bytes.subarray(at, at + 4).join('.');
  const words = Array.from({ length: 8 }, (_, index) => uint16(bytes, at + 2 * index));
  const gap = longestGap(words);
  const text = (part: number[]) => part.map((word) => word.toString(16)).join(':');
  if (gap.length < 2) return text(words);
  return `${text(words.slice(0, gap.start))}::${text(words.slice(gap.start + gap.length))}`;
}

function isMapped(bytes: Uint8Array): boolean {
  for (let at = 0; at < 10; at++) if (uint8(bytes, at) !== 0) return false;
  return uint16(bytes, 10) === 0xffff;
}

function asIPv6(address: Uint8Array): Uint8Array {
  if (address.length === 16) return address;
  return Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, ...address]);
}

function longestGap(words: readonly number[]): { start: number; length: number } {
  let longest = { start: 0, length: 0 };
  let start = 0;
  for (const [index, word] of words.entries()) {
    if (word !== 0) start = index + 1;
    else if (index + 1 - start > longest.length) longest = { start, length: index + 1 - start };
  }
  return longest;
}
