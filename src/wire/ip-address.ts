/**
 * IP addresses as text. `node:net` has the same functions, but costs every thread that uses one about 1 MB.
 */

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
const GROUP = /^[0-9a-f]{1,4}$/i;

/** Reports whether this is an IPv4 address: four numbers without leading zeros. */
export function isIPv4(text: string): boolean {
  return IPV4.test(text);
}

/** Reports whether this is an IPv6 address. A zone is not allowed: `fe80::1%eth0` means nothing on another machine. */
export function isIPv6(text: string): boolean {
  return ipv6Bytes(text) !== undefined;
}

/** Returns 4, 6, or 0 if this is not an address. */
export function ipVersion(text: string): 0 | 4 | 6 {
  if (isIPv4(text)) return 4;
  return isIPv6(text) ? 6 : 0;
}

/** Returns the 4 or 16 bytes of an address in network byte order, or undefined if it is not one. */
export function ipBytes(text: string): Uint8Array | undefined {
  return isIPv4(text) ? Uint8Array.from(text.split('.'), Number) : ipv6Bytes(text);
}

function ipv6Bytes(text: string): Uint8Array | undefined {
  // At most 45 characters: eight groups of which the last two are an IPv4 address.
  if (text.length > 45 || !text.includes(':')) return undefined;
  const halves = text.split('::');
  const [head = '', tail] = halves;
  if (halves.length > 2) return undefined;
  const first = groupBytes(head, tail === undefined);
  const last = tail === undefined ? [] : groupBytes(tail, true);
  if (first === undefined || last === undefined) return undefined;
  const missing = 16 - first.length - last.length;
  // `::` replaces at least one group.
  if (tail === undefined ? missing !== 0 : missing < 2) return undefined;
  const bytes = new Uint8Array(16);
  bytes.set(first);
  bytes.set(last, 16 - last.length);
  return bytes;
}

/** Returns the bytes of groups between colons. The last group of the address may be an IPv4 address. */
function groupBytes(text: string, isEnd: boolean): number[] | undefined {
  if (text === '') return [];
  const bytes: number[] = [];
  const groups = text.split(':');
  for (const [index, group] of groups.entries()) {
    if (isEnd && index === groups.length - 1 && isIPv4(group)) {
      bytes.push(...group.split('.').map(Number));
    } else if (GROUP.test(group)) {
      const word = Number.parseInt(group, 16);
      bytes.push(word >> 8, word & 0xff);
    } else {
      return undefined;
    }
  }
  return bytes;
}
