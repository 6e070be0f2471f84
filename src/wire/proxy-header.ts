/** PROXY protocol version 2 (haproxy, doc/proxy-protocol.txt): reads a header and writes one. */
import {
  addressBytes,
  formatAddress,
  type AddressFamily,
  type AddressPair,
} from './address-pair.ts';
import { crc32c, putUint16, uint16, uint32, uint8 } from './bytes.ts';
import type { ProxyOutcome, ProxyRefusal } from './outcome.ts';

/**
 * The default limit of a header. Typical headers have a hundred bytes, or a thousand with the names of a client
 * certificate.
 */
export const PROXY_LIMIT_BYTES = 4 * 1024;

/** The first byte of every header. No TLS record begins with it. */
export const PROXY_FIRST_BYTE = 0x0d;

/** The `P` of `PROXY TCP4 ...`. */
export const VERSION_1_FIRST_BYTE = 0x50;

/** The TLV types that Snicket uses. */
export const TLV = { authority: 0x02, checksum: 0x03, tenant: 0xe0 } as const;

/** The length of a TLV's type and length. */
export const TLV_HEADER_BYTES = 3;

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const V1_SIGNATURE = Buffer.from('PROXY ', 'latin1');
const FIXED_BYTES = 16;
const VERSION = 2;
const LOCAL = 0;
const PROXY = 1;
const UNSPEC = 0x00;
const TCP_IPV4 = 0x11;
const UDP_IPV4 = 0x12;
const TCP_IPV6 = 0x21;
const UDP_IPV6 = 0x22;
const UNIX = 3;
const NOT_FOUND = -1;
const EMPTY: Buffer = Buffer.alloc(0);

/**
 * A reader for one thread, reused for every header. Its results are valid until the next read, or until the bytes
 * change. It stores offsets and allocates nothing.
 *
 * For LOCAL and UNSPEC headers, `family` is undefined. The receiver must use the addresses of the connection and
 * discard the rest of the header, so their TLVs are ignored.
 */
export class ProxyHeader {
  /** After `header`: the family of the addresses. Absent for LOCAL and UNSPEC. */
  family: AddressFamily | undefined;
  /** Whether the sender opened the connection itself, as for a health check. */
  isLocal = false;
  /**
   * The buffer that was read, and the offsets where the header starts and ends in it. The next header may start at
   * `end`.
   */
  bytes: Buffer = EMPTY;
  start = 0;
  end = 0;
  /** The offsets of the value of the tenant stamp, -1 if there is none. */
  stampStart = NOT_FOUND;
  stampEnd = NOT_FOUND;
  /** The offsets of the value of the authority, -1 if there is none. */
  authorityStart = NOT_FOUND;
  authorityEnd = NOT_FOUND;

  readonly #limitBytes: number;

  /** `limitBytes` covers the whole header, so a full buffer of that size always leads to a decision. */
  constructor(limitBytes: number = PROXY_LIMIT_BYTES) {
    this.#limitBytes = limitBytes;
  }

  /** Reads the bytes from `start` to `end` that have arrived so far. */
  read(bytes: Buffer, end: number, start = 0): ProxyOutcome {
    this.#forget(bytes, start);
    const refusal = signatureFault(bytes, start, end);
    if (refusal !== undefined) return refusal;
    if (end - start < FIXED_BYTES) return 'incomplete';

    const command = uint8(bytes, start + 12) & 0x0f;
    if (uint8(bytes, start + 12) >> 4 !== VERSION) return 'proxy_version_unknown';
    if (command !== LOCAL && command !== PROXY) return 'proxy_command_unknown';
    const familyByte = uint8(bytes, start + 13);
    const isOpaque = command === LOCAL || familyByte === UNSPEC;
    const fault = isOpaque ? undefined : familyFault(familyByte);
    if (fault !== undefined) return fault;

    const rest = uint16(bytes, start + 14);
    if (FIXED_BYTES + rest > this.#limitBytes) return 'proxy_header_too_long';
    const headerEnd = start + FIXED_BYTES + rest;
    const family = familyByte === TCP_IPV4 ? 'ipv4' : 'ipv6';
    const tlvs = start + FIXED_BYTES + 2 * addressBytes(family) + 4;
    if (!isOpaque && tlvs > headerEnd) return 'proxy_address_truncated';
    if (headerEnd > end) return 'incomplete';

    this.end = headerEnd;
    this.isLocal = command === LOCAL;
    if (isOpaque) return 'header';
    this.family = family;
    return this.#tlvFault(tlvs) ?? 'header';
  }

  /** Returns the host that the client requested, in lower case. It is not verified: any sender can write anything. */
  authority(): string | undefined {
    if (this.authorityStart === NOT_FOUND) return undefined;
    return this.bytes.toString('latin1', this.authorityStart, this.authorityEnd).toLowerCase();
  }

  /**
   * Returns source and destination as text. Undefined for LOCAL and UNSPEC headers. It allocates, so use it for logs
   * only.
   */
  addresses(): Record<'source' | 'destination', { address: string; port: number }> | undefined {
    if (this.family === undefined) return undefined;
    const size = addressBytes(this.family);
    const source = this.start + FIXED_BYTES;
    const ports = source + 2 * size;
    return {
      source: {
        address: formatAddress(this.bytes, source, this.family),
        port: uint16(this.bytes, ports),
      },
      destination: {
        address: formatAddress(this.bytes, source + size, this.family),
        port: uint16(this.bytes, ports + 2),
      },
    };
  }

  #forget(bytes: Buffer, start: number): void {
    this.bytes = bytes;
    this.start = start;
    this.end = start;
    this.family = undefined;
    this.isLocal = false;
    this.stampStart = this.stampEnd = NOT_FOUND;
    this.authorityStart = this.authorityEnd = NOT_FOUND;
  }

  /** Refuses duplicates of known TLVs, because another reader might use the other TLV. */
  #tlvFault(tlvs: number): ProxyRefusal | undefined {
    const { bytes, start, end } = this;
    let checksum = NOT_FOUND;
    for (let at = tlvs; at < end;) {
      const value = at + TLV_HEADER_BYTES;
      const next = value + uint16(bytes, at + 1);
      if (value > end || next > end) return 'proxy_tlv_overruns_header';
      switch (uint8(bytes, at)) {
        case TLV.authority:
          if (this.authorityStart !== NOT_FOUND) return 'proxy_authority_duplicate';
          this.authorityStart = value;
          this.authorityEnd = next;
          break;
        case TLV.checksum:
          if (checksum !== NOT_FOUND) return 'proxy_checksum_duplicate';
          if (next - value !== 4) return 'proxy_checksum_malformed';
          checksum = value;
          break;
        case TLV.tenant:
          if (this.stampStart !== NOT_FOUND) return 'proxy_tenant_duplicate';
          this.stampStart = value;
          this.stampEnd = next;
          break;
        default: // padding and other TLVs of load balancers
      }
      at = next;
    }
    if (checksum === NOT_FOUND) return undefined;
    const fits = crc32c(bytes, start, end, checksum) === uint32(bytes, checksum);
    return fits ? undefined : 'proxy_checksum_wrong';
  }
}

/**
 * Returns the length of a header with addresses of this family. `tlvBytes` is the length of its TLVs, including their
 * headers.
 */
export function proxyHeaderBytes(family: AddressFamily | undefined, tlvBytes: number): number {
  return FIXED_BYTES + (family === undefined ? 0 : 2 * addressBytes(family) + 4) + tlvBytes;
}

/**
 * Writes a header up to its TLVs, announces `tlvBytes` for them, and returns their offset. Without addresses, the
 * header is LOCAL.
 *
 * @throws RangeError if the whole header does not fit.
 */
export function writeProxyHeader(
  into: Buffer,
  at: number,
  addresses: AddressPair | undefined,
  tlvBytes = 0,
): number {
  const total = proxyHeaderBytes(addresses?.family, tlvBytes);
  if (at + total > into.length) {
    throw new RangeError(
      `a PROXY header of ${total} bytes does not fit at ${at} of ${into.length}`,
    );
  }
  SIGNATURE.copy(into, at);
  into[at + 12] = (VERSION << 4) | (addresses === undefined ? LOCAL : PROXY);
  into[at + 13] = addresses === undefined ? UNSPEC : familyByteOf(addresses.family);
  const source = putUint16(into, at + 14, total - FIXED_BYTES);
  if (addresses === undefined) return source;
  const size = addressBytes(addresses.family);
  into.set(addresses.source, source);
  into.set(addresses.destination, source + size);
  const destinationPort = putUint16(into, source + 2 * size, addresses.sourcePort);
  return putUint16(into, destinationPort, addresses.destinationPort);
}

/** Writes the type and length of a TLV, and returns the offset of its value. */
export function writeTlvHeader(into: Buffer, at: number, type: number, valueBytes: number): number {
  into[at] = type;
  return putUint16(into, at + 1, valueBytes);
}

function familyByteOf(family: AddressFamily): number {
  return family === 'ipv4' ? TCP_IPV4 : TCP_IPV6;
}

function familyFault(byte: number): ProxyRefusal | undefined {
  if (byte === TCP_IPV4 || byte === TCP_IPV6) return undefined;
  if (byte >> 4 === UNIX) return 'proxy_unix_address';
  return byte === UDP_IPV4 || byte === UDP_IPV6 ? 'proxy_not_stream' : 'proxy_family_unknown';
}

/**
 * Checks the signature as far as it has arrived. Version 1 has its own refusal, because configuring it is a common
 * mistake.
 */
function signatureFault(
  bytes: Buffer,
  start: number,
  end: number,
): 'incomplete' | ProxyRefusal | undefined {
  if (start >= end) return 'incomplete';
  const isText = uint8(bytes, start) === uint8(V1_SIGNATURE, 0);
  const signature = isText ? V1_SIGNATURE : SIGNATURE;
  const available = Math.min(signature.length, end - start);
  for (let at = 0; at < available; at++) {
    if (uint8(bytes, start + at) !== uint8(signature, at)) return 'not_proxy_header';
  }
  if (available < signature.length) return 'incomplete';
  return isText ? 'proxy_v1_header' : undefined;
}
