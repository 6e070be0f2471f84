/**
 * A slow reference parser for PROXY v2 headers, like reference-hello.ts. It follows haproxy's doc/proxy-protocol.txt
 * section 2.2.
 */
import type { ProxyRefusal } from '../src/wire/outcome.ts';
import { Cursor, Incomplete, Refused } from './cursor.ts';

/** The result of the reference parser. */
export type ReferenceProxyHeader =
  | { readonly outcome: 'incomplete' | ProxyRefusal }
  | ReferenceProxyHeaderRead;

/** A complete header. */
export interface ReferenceProxyHeaderRead {
  readonly outcome: 'header';
  readonly lengthBytes: number;
  readonly isLocal: boolean;
  /** Source address, destination address and the two ports as text. Absent for LOCAL and UNSPEC. */
  readonly addresses: string | undefined;
  readonly authority: string | undefined;
  readonly stamp: string | undefined;
}

const SIGNATURE = [0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a];
const V1_SIGNATURE = Array.from('PROXY ', (character) => character.charCodeAt(0));

/** Parses the bytes that have arrived so far. */
export function referenceProxyHeader(
  arrived: Uint8Array,
  limitBytes: number,
): ReferenceProxyHeader {
  try {
    return read(arrived, limitBytes);
  } catch (error) {
    if (error instanceof Incomplete) return { outcome: 'incomplete' };
    if (error instanceof Refused) return { outcome: error.code as ProxyRefusal };
    throw error;
  }
}

function read(arrived: Uint8Array, limitBytes: number): ReferenceProxyHeader {
  const wire = new Cursor<ProxyRefusal>(arrived, () => new Incomplete());
  const signature = arrived[0] === V1_SIGNATURE[0] ? V1_SIGNATURE : SIGNATURE;
  for (const expected of signature) {
    if (wire.number(1) !== expected) throw new Refused('not_proxy_header');
  }
  if (signature === V1_SIGNATURE) throw new Refused('proxy_v1_header');

  const [versionAndCommand = 0, familyAndTransport = 0, high = 0, low = 0] = wire.take(4);
  const version = Math.floor(versionAndCommand / 16);
  const command = versionAndCommand % 16;
  const length = high * 256 + low;
  if (version !== 2) throw new Refused('proxy_version_unknown');
  if (command > 1) throw new Refused('proxy_command_unknown');
  const isLocal = command === 0;
  const isOpaque = isLocal || familyAndTransport === 0;
  if (!isOpaque) refuseFamily(familyAndTransport);
  if (16 + length > limitBytes) throw new Refused('proxy_header_too_long');
  const addressBytes = familyAndTransport === 0x11 ? 4 : 16;
  if (!isOpaque && length < 2 * addressBytes + 4) throw new Refused('proxy_address_truncated');

  const block = new Cursor<ProxyRefusal>(wire.take(length), () => {
    throw new Refused('proxy_tlv_overruns_header');
  });
  const read = { outcome: 'header', lengthBytes: 16 + length, isLocal } as const;
  if (isOpaque) return { ...read, addresses: undefined, authority: undefined, stamp: undefined };
  const addresses = [
    block.take(addressBytes).join('.'),
    block.take(addressBytes).join('.'),
    block.number(2),
    block.number(2),
  ].join(' ');

  const found = new Map<number, number[]>();
  while (block.remaining > 0) {
    const type = block.number(1);
    const value = block.vector(2, 'proxy_tlv_overruns_header');
    if (found.has(type) && type === 2) throw new Refused('proxy_authority_duplicate');
    if (found.has(type) && type === 3) throw new Refused('proxy_checksum_duplicate');
    if (found.has(type) && type === 0xe0) throw new Refused('proxy_tenant_duplicate');
    if (type === 3) {
      if (value.length !== 4) throw new Refused('proxy_checksum_malformed');
      found.set(-1, [16 + block.at - 4]);
    }
    found.set(type, value);
  }
  const [checksumAt] = found.get(-1) ?? [];
  if (checksumAt !== undefined) {
    const header = Array.from(arrived.subarray(0, 16 + length));
    const received = header.splice(checksumAt, 4, 0, 0, 0, 0);
    if (checksum(header).join() !== received.join()) throw new Refused('proxy_checksum_wrong');
  }
  const authority = found.get(2);
  return {
    ...read,
    addresses,
    authority: authority && String.fromCharCode(...authority).toLowerCase(),
    stamp: found.get(0xe0)?.join('.'),
  };
}

function refuseFamily(familyAndTransport: number): void {
  const family = Math.floor(familyAndTransport / 16);
  const transport = familyAndTransport % 16;
  if (family === 3) throw new Refused('proxy_unix_address');
  const isKnown = (family === 1 || family === 2) && (transport === 1 || transport === 2);
  if (!isKnown) throw new Refused('proxy_family_unknown');
  if (transport === 2) throw new Refused('proxy_not_stream');
}

/** Returns the CRC32c as four bytes, computed bit by bit. */
function checksum(bytes: readonly number[]): number[] {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  const value = ~crc >>> 0;
  return [value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff];
}
