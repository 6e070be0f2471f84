/**
 * Validates the virtual addresses on which a node serves the tenant's API.
 */
import { formatAddress } from '../wire/address-pair.ts';
import { ipBytes } from '../wire/ip-address.ts';

/**
 * Returns the address in its canonical form.
 *
 * @throws TypeError with a message for the user if it is not an address, or one that no EndpointSlice may contain.
 */
export function parseVirtualAddress(text: string): string {
  const bytes = ipBytes(text);
  if (bytes === undefined) {
    throw new TypeError(
      `'${text}' is not an IP address; write one like 100.64.64.1 or fd00:64::1, without a prefix length`,
    );
  }
  const kind = bytes.length === 4 ? kindOfIPv4(bytes) : kindOfIPv6(bytes);
  if (kind !== undefined) {
    throw new TypeError(
      `'${text}' is ${kind} and cannot be an endpoint of a Service; choose an unused address such as 100.64.64.1 or fd00:64::1`,
    );
  }
  return formatAddress(bytes, 0, bytes.length === 4 ? 'ipv4' : 'ipv6');
}

function kindOfIPv4([first = 0, second = 0, third = 0, fourth = 0]: Uint8Array):
  | string
  | undefined {
  if (first === 127) return 'a loopback address';
  if (first === 169 && second === 254) return 'a link-local address';
  if (first === 0) return 'the unspecified address or one of its network';
  if (first >= 224 && first <= 239) return 'a multicast address';
  return [first, second, third, fourth].every((byte) => byte === 255)
    ? 'the broadcast address'
    : undefined;
}

function kindOfIPv6(bytes: Uint8Array): string | undefined {
  const [first = 0, second = 0] = bytes;
  const last = bytes[15] ?? 0;
  if (bytes.subarray(0, 15).every((byte) => byte === 0) && last <= 1) {
    return last === 0 ? 'the unspecified address' : 'the loopback address';
  }
  if (first === 0xfe && (second & 0xc0) === 0x80) return 'a link-local address';
  if (first === 0xff) return 'a multicast address';
  const isMapped =
    bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
  return isMapped ? 'an IPv4-mapped IPv6 address' : undefined;
}
