/**
 * Validates addresses of EndpointSlices. The API server rejects a slice with a single invalid address, so callers filter
 * addresses first.
 */
import { ipBytes, ipVersion } from '../../wire/ip-address.ts';

/** The values of `addressType` for IP addresses. */
export type AddressFamily = 'IPv4' | 'IPv6';

/** Returns the family of an address, or undefined if it is invalid. */
export function familyOf(address: string): AddressFamily | undefined {
  switch (ipVersion(address)) {
    case 4:
      return 'IPv4';
    case 6:
      return 'IPv6';
    case 0:
      return undefined;
  }
}

/** Returns the canonical form (RFC 5952), so that addresses can be compared as strings: `FD00:0::1` is `fd00::1`. */
export function canonicalAddress(address: string): string {
  return familyOf(address) === 'IPv6'
    ? new URL(`http://[${address}]`).hostname.slice(1, -1)
    : address;
}

/** Returns why an address cannot be an endpoint, as the end of "it is ...", or undefined if it can. */
export function endpointAddressFault(address: string): string | undefined {
  const bytes = ipBytes(address);
  if (bytes === undefined) return 'no IP address';
  return bytes.length === 4 ? ipv4Fault(bytes) : ipv6Fault(bytes);
}

/** Reports whether an address is a loopback address. */
export function isLoopback(address: string): boolean {
  const bytes = ipBytes(address);
  if (bytes === undefined) return false;
  if (bytes.length === 4) return bytes[0] === 127;
  return bytes.findIndex((byte) => byte !== 0) === 15 && bytes[15] === 1;
}

function ipv4Fault([first = 0, second = 0, third = 0, fourth = 0]: Uint8Array): string | undefined {
  if (first + second + third + fourth === 0) return 'the unspecified address';
  if (first === 127) return 'a loopback address';
  if (first === 169 && second === 254) return 'a link-local address';
  return first >= 224 && first < 240 ? 'a multicast address' : undefined;
}

function ipv6Fault(bytes: Uint8Array): string | undefined {
  const [first = 0, second = 0] = bytes;
  const leadingZeros = bytes.findIndex((byte) => byte !== 0);
  if (leadingZeros < 0) return 'the unspecified address';
  if (leadingZeros === 15 && bytes[15] === 1) return 'a loopback address';
  if (first === 0xfe && (second & 0xc0) === 0x80) return 'a link-local address';
  if (first === 0xff) return 'a multicast address';
  const isMapped = leadingZeros === 10 && bytes[10] === 0xff && bytes[11] === 0xff;
  return isMapped ? 'an IPv4 address written as IPv6' : undefined;
}
