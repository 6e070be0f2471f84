/**
 * Numbers in network byte order, and the checksum of the PROXY protocol. Parsers check bounds against the bytes that
 * have arrived, which are fewer than the buffer holds. A read outside the buffer itself returns 0, never NaN.
 *
 * The code uses plain indexing, because the JIT turns that into one load.
 */

/** Returns the byte at `at`. */
export function uint8(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}

/** Returns the two bytes at `at` as a number. */
export function uint16(bytes: Uint8Array, at: number): number {
  return (uint8(bytes, at) << 8) | uint8(bytes, at + 1);
}

/** Returns the four bytes at `at` as an unsigned number. */
export function uint32(bytes: Uint8Array, at: number): number {
  return ((uint16(bytes, at) << 16) | uint16(bytes, at + 2)) >>> 0;
}

/**
 * Returns the eight bytes at `at` as a number. Results above 2^53 are rounded, so use it for times, not for
 * identifiers.
 */
export function uint64(bytes: Uint8Array, at: number): number {
  return uint32(bytes, at) * 2 ** 32 + uint32(bytes, at + 4);
}

/** Writes two bytes and returns the offset after them. */
export function putUint16(bytes: Uint8Array, at: number, value: number): number {
  bytes[at] = value >>> 8;
  bytes[at + 1] = value;
  return at + 2;
}

/** Writes four bytes and returns the offset after them. */
export function putUint32(bytes: Uint8Array, at: number, value: number): number {
  return putUint16(bytes, putUint16(bytes, at, value >>> 16), value);
}

/** Writes eight bytes and returns the offset after them. */
export function putUint64(bytes: Uint8Array, at: number, value: number): number {
  return putUint32(bytes, putUint32(bytes, at, Math.floor(value / 2 ** 32)), value);
}

/** The Castagnoli polynomial, bits reversed (RFC 3720, appendix B.4). */
const CASTAGNOLI = 0x82f63b78;

const CRC32C_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ CASTAGNOLI : crc >>> 1;
  return crc;
});

/**
 * Returns the CRC32c of the bytes from `start` to `end`. The four bytes at `hole`, where the checksum itself is stored,
 * count as zero.
 */
export function crc32c(bytes: Uint8Array, start: number, end: number, hole = end): number {
  let crc = 0xffffffff;
  for (let at = start; at < end; at++) {
    const byte = at >= hole && at < hole + 4 ? 0 : uint8(bytes, at);
    crc = (crc >>> 8) ^ (CRC32C_TABLE[(crc ^ byte) & 0xff] ?? 0);
  }
  return ~crc >>> 0;
}
