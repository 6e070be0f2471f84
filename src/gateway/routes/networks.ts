/** Parses and matches IP networks in CIDR notation: `10.0.0.0/8`, `fd00::/8`, `10.0.0.1`. */
import { ipBytes } from '../../wire/ip-address.ts';

/** Returns the error of an invalid network, as a message for the user, or undefined if it is valid. */
export function networkProblem(text: string): string | undefined {
  try {
    rejectHostBits(text, parseNetwork(text));
    return undefined;
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    throw error;
  }
}

/** Parses a comma-separated list of networks. @throws TypeError with a message for the user. */
export function parseNetworks(text: string): readonly string[] {
  return text.split(',').map((part) => {
    const network = part.trim();
    rejectHostBits(network, parseNetwork(network));
    return network;
  });
}

/** A set of networks. It caches the last answers, since most sources connect more than once. */
export class NetworkSet {
  readonly #networks: readonly Network[];
  readonly #cache = new Map<string, boolean>();

  /** The networks must have passed {@link networkProblem} or {@link parseNetworks}. */
  constructor(networks: readonly string[]) {
    this.#networks = networks.map(parseNetwork);
  }

  has(address: string): boolean {
    const cached = this.#cache.get(address);
    if (cached !== undefined) return cached;
    if (this.#cache.size >= MAX_CACHED) this.#cache.clear();
    const bytes = unmapped(ipBytes(address));
    const isMember =
      bytes !== undefined && this.#networks.some((network) => contains(network, bytes));
    this.#cache.set(address, isMember);
    return isMember;
  }
}

const MAX_CACHED = 1024;

const MAPPED_PREFIX = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/**
 * Returns an IPv4-mapped address such as `::ffff:192.0.2.1` as an IPv4 address. Some load balancers write IPv4 clients
 * that way.
 */
function unmapped(bytes: Uint8Array | undefined): Uint8Array | undefined {
  const isMapped =
    bytes?.length === 16 && MAPPED_PREFIX.every((byte, index) => bytes[index] === byte);
  return isMapped ? bytes.subarray(12) : bytes;
}

interface Network {
  readonly bytes: Uint8Array;
  readonly prefix: number;
}

function parseNetwork(text: string): Network {
  const [address = '', length, ...rest] = text.split('/');
  const bytes = ipBytes(address);
  if (bytes === undefined || rest.length > 0) {
    throw new TypeError(`'${text}' is not an IP network; write 10.0.0.0/8, fd00::/8 or 10.0.0.1`);
  }
  const bits = 8 * bytes.length;
  const prefix = length === undefined ? bits : /^\d{1,3}$/.test(length) ? Number(length) : Infinity;
  if (prefix > bits) {
    throw new TypeError(
      `'${text}' has no prefix length from 0 to ${bits}; write ${address}/${bits} for one address`,
    );
  }
  if (isMapped(bytes) && prefix >= MAPPED_BITS) {
    const network = `${bytes.subarray(MAPPED_BITS / 8).join('.')}/${prefix - MAPPED_BITS}`;
    throw new TypeError(
      `'${text}' is an IPv4-mapped IPv6 network, which matches no client; write ${network}`,
    );
  }
  return { bytes, prefix };
}

/**
 * Prefix length of ::ffff:0:0/96 (RFC 4291 section 2.5.5.2). The gateway's IPv6 sockets accept no IPv4, so no client
 * address is in it.
 */
const MAPPED_BITS = 96;

function isMapped(bytes: Uint8Array): boolean {
  const isWide = bytes.length === 16 && bytes[10] === 0xff && bytes[11] === 0xff;
  return isWide && bytes.subarray(0, 10).every((byte) => byte === 0);
}

/** Rejects 10.0.0.1/8, since it would match all of 10.0.0.0/8, which the user may not intend. */
function rejectHostBits(text: string, { bytes, prefix }: Network): void {
  const masked = bytes.map((byte, index) => byte & maskOf(prefix - 8 * index));
  if (Buffer.compare(masked, bytes) === 0) return;
  const address = text.slice(0, text.indexOf('/'));
  throw new TypeError(
    `'${text}' has host bits set; write ${ipText(masked)}/${prefix} for the network, or ${address} for one address`,
  );
}

/** Formats the address of a network. In IPv6, the zero groups at the end become `::`; others are rare in networks. */
function ipText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  const hex = Buffer.from(bytes).toString('hex');
  const groups = (hex.match(/.{4}/g) ?? []).map((group) => Number.parseInt(group, 16).toString(16));
  return groups.join(':').replace(/(?:^|:)0(?::0)+$/, '::');
}

/** Returns the mask of one byte: its first `bitsLeft` bits. */
function maskOf(bitsLeft: number): number {
  return (0xff00 >> Math.max(0, Math.min(8, bitsLeft))) & 0xff;
}

function contains({ bytes, prefix }: Network, address: Uint8Array): boolean {
  if (bytes.length !== address.length) return false;
  for (let bit = 0; bit < prefix; bit += 8) {
    const differs = (bytes[bit >> 3] ?? 0) ^ (address[bit >> 3] ?? 0);
    if ((differs & maskOf(prefix - bit)) !== 0) return false;
  }
  return true;
}
