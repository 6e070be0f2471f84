/** Socket addresses in the layout of the kernel: struct sockaddr_in and sockaddr_in6, in 28 bytes. */
import { formatAddress, parseAddress } from '../wire/address-pair.ts';
import { AF_INET, AF_INET6 } from './linux.ts';

/** The size of the longest address. */
export const SOCKADDR_BYTES = 28;
/** The size in 32-bit words. */
export const SOCKADDR_WORDS = SOCKADDR_BYTES / 4;
const SOCKADDR_IN_BYTES = 16;
const PORT_AT = 2;
const ADDRESS4_AT = 4;
const ADDRESS6_AT = 8;

/** Writes an address and returns its length. @throws TypeError if the address is invalid. */
export function writeAddress(into: Buffer, at: number, address: string, port: number): number {
  const bytes = parseAddress(address);
  const isIPv4 = bytes.length === 4;
  into.fill(0, at, at + SOCKADDR_BYTES);
  into.writeUInt16LE(isIPv4 ? AF_INET : AF_INET6, at); // in host byte order; Bun supports little-endian hosts only
  into.writeUInt16BE(port, at + PORT_AT);
  into.set(bytes, at + (isIPv4 ? ADDRESS4_AT : ADDRESS6_AT));
  return isIPv4 ? SOCKADDR_IN_BYTES : SOCKADDR_BYTES;
}

/** The address of a socket, as bytes, and its port. */
export interface SocketAddress {
  readonly address: Uint8Array;
  readonly port: number;
}

/** Returns the address at this offset. Its address is a view, not a copy. */
export function readSocketAddress(from: Buffer, at: number): SocketAddress {
  const isIPv4 = from.readUInt16LE(at) === AF_INET;
  const start = at + (isIPv4 ? ADDRESS4_AT : ADDRESS6_AT);
  const address = from.subarray(start, start + (isIPv4 ? 4 : 16));
  return { address, port: readPort(from, at) };
}

/** Returns the port of the address at this offset. */
export function readPort(from: Buffer, at: number): number {
  return from.readUInt16BE(at + PORT_AT);
}

/** Returns the address at this offset in the form of RFC 5952, or an empty string if none was written. */
export function readAddress(from: Buffer, at: number): string {
  const family = from.readUInt16LE(at);
  if (family === AF_INET) return formatAddress(from, at + ADDRESS4_AT, 'ipv4');
  return family === AF_INET6 ? formatAddress(from, at + ADDRESS6_AT, 'ipv6') : '';
}
