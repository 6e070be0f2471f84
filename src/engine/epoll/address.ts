/**
 * Socket addresses as the kernel has them: struct sockaddr_in and sockaddr_in6 in 28 bytes.
 */
import { parseAddress } from '../../wire/address-pair.ts';
import { AF_INET, AF_INET6 } from './linux.ts';

/** The most that an address takes. */
export const SOCKADDR_BYTES = 28;
/** The same in words, which are copied faster. */
export const SOCKADDR_WORDS = SOCKADDR_BYTES / 4;
const SOCKADDR_IN_BYTES = 16;
const PORT_AT = 2;
const ADDRESS4_AT = 4;
const ADDRESS6_AT = 8;

/** Writes an address and returns its length. @throws TypeError if it is none. */
export function writeAddress(into: Buffer, at: number, address: string, port: number): number {
  const bytes = parseAddress(address);
  const isIPv4 = bytes.length === 4;
  into.fill(0, at, at + SOCKADDR_BYTES);
  into.writeUInt16LE(isIPv4 ? AF_INET : AF_INET6, at); // of the host, and Bun runs on little endian ones only
  into.writeUInt16BE(port, at + PORT_AT);
  into.set(bytes, at + (isIPv4 ? ADDRESS4_AT : ADDRESS6_AT));
  return isIPv4 ? SOCKADDR_IN_BYTES : SOCKADDR_BYTES;
}

/** The port of the address at `at`. */
export function readPort(from: Buffer, at: number): number {
  return from.readUInt16BE(at + PORT_AT);
}

/** Its address as text, in the form of RFC 5952; empty if nothing was written there. */
export function readAddress(from: Buffer, at: number): string {
  const family = from.readUInt16LE(at);
  if (family === AF_INET) {
    const byte = at + ADDRESS4_AT;
    return `${from[byte]}.${from[byte + 1]}.${from[byte + 2]}.${from[byte + 3]}`;
  }
  return family === AF_INET6 ? readIPv6(from, at + ADDRESS6_AT) : '';
}

function readIPv6(from: Buffer, at: number): string {
  const groups = Array.from({ length: 8 }, (_, group) => from.readUInt16BE(at + 2 * group));
  const { start, length } = longestZeros(groups);
  const text = (part: readonly number[]) => part.map((group) => group.toString(16)).join(':');
  if (length < 2) return text(groups);
  return `${text(groups.slice(0, start))}::${text(groups.slice(start + length))}`;
}

/** The first of the longest runs of zeros: what `::` stands for. */
function longestZeros(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (const [index, group] of groups.entries()) {
    if (group !== 0) start = index + 1;
    else if (index + 1 - start > best.length) best = { start, length: index + 1 - start };
  }
  return best;
}
