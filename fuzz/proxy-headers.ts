/**
 * Inputs for the PROXY header parsers, many of them signed for a tenant.
 */
import { addressPair, type AddressPair } from '../src/wire/address-pair.ts';
import { crc32c, putUint32 } from '../src/wire/bytes.ts';
import { proxyHeaderBytes, TLV, writeProxyHeader } from '../src/wire/proxy-header.ts';
import { MAX_TENANT_HEADER_BYTES, signTenantHeader } from '../src/wire/tenant-header.ts';
import { deriveTenantSecret, tenantKey, type TenantKey } from '../src/wire/tenant-key.ts';
import { mutated } from './mutation.ts';
import type { Random } from './random.ts';

/** The time at which all headers here were signed. */
export const SIGNED_AT_SECONDS = 1_800_000_000;

const IPV4 = addressPair('10.1.2.3', 40000, '10.96.0.1', 443);
const IPV6 = addressPair('2001:db8::7', 40001, 'fd00::1', 6443);
const MASTER_KEY = Buffer.alloc(32, 0x42);

/** The keys of the tenants in these headers. */
export const KEYS: readonly TenantKey[] = ['tenant-a.example', 'tenant-b.example'].map((host) =>
  tenantKey(host, deriveTenantSecret(MASTER_KEY, host)),
);

/** Headers signed by each of the tenants. */
export const SIGNED_HEADERS: readonly Buffer[] = KEYS.flatMap((key) =>
  [IPV4, IPV6].map((addresses) => signedHeader(key, addresses)),
);
const authority = Buffer.from('tenant-a.example');

const HEADERS: readonly Buffer[] = [
  ...SIGNED_HEADERS,
  header(undefined, []),
  header(IPV4, []),
  header(IPV6, [[TLV.authority, authority]]),
  header(IPV4, [
    [TLV.authority, authority],
    [TLV.authority, authority],
  ]),
  header(IPV4, [
    [TLV.tenant, Buffer.from([1])],
    [TLV.tenant, Buffer.from([2])],
  ]),
  header(IPV4, [
    [TLV.authority, authority],
    [TLV.tenant, Buffer.from([1, 0, 0])],
  ]),
  header(IPV4, [
    [0x04, Buffer.alloc(30)],
    [TLV.authority, authority],
    [0xea, Buffer.from('vpce-1')],
  ]),
  header(IPV4, [
    [TLV.checksum, Buffer.alloc(4)],
    [TLV.checksum, Buffer.alloc(4)],
  ]),
  checked(header(IPV4, [[TLV.checksum, Buffer.alloc(4)]])),
  checked(
    header(IPV6, [
      [TLV.checksum, Buffer.alloc(4)],
      [TLV.authority, authority],
    ]),
  ),
  patched(header(IPV4, []), 13, 0x00),
  patched(header(IPV4, []), 13, 0x12),
  patched(header(IPV4, []), 13, 0x31),
  patched(header(IPV4, []), 13, 0x10),
  patched(header(IPV4, []), 12, 0x11),
  patched(header(IPV4, []), 12, 0x22),
  Buffer.concat([header(IPV4, []), ...SIGNED_HEADERS.slice(0, 1)]),
  Buffer.from('PROXY TCP4 10.1.2.3 10.96.0.1 40000 443\r\n'),
];

/** Returns an input. */
export function proxyHeaderInput(random: Random): Buffer {
  if (random.oneIn(60)) return random.bytes(1 + random.below(60));
  const input = random.pick(random.oneIn(2) ? SIGNED_HEADERS : HEADERS);
  return random.oneIn(6) ? input : mutated(input, random, HEADERS);
}

function signedHeader(key: TenantKey, addresses: AddressPair): Buffer {
  const into = Buffer.alloc(MAX_TENANT_HEADER_BYTES);
  // Derives the nonce from the key. With a random one, a seed would not reproduce the input.
  const length = signTenantHeader(into, 0, key, addresses, SIGNED_AT_SECONDS, (bytes, at) => {
    putUint32(bytes, at, key.id);
    putUint32(bytes, at + 4, addresses.sourcePort);
  });
  return into.subarray(0, length);
}

/** Returns a header with these TLVs: type and value. */
export function header(
  addresses: AddressPair | undefined,
  tlvs: readonly (readonly [number, Uint8Array])[],
): Buffer {
  const encoded = tlvs.map(([type, value]) =>
    Buffer.concat([Buffer.from([type, value.length >> 8, value.length & 0xff]), value]),
  );
  const tlvBytes = Buffer.concat(encoded);
  const into = Buffer.alloc(proxyHeaderBytes(addresses?.family, tlvBytes.length));
  tlvBytes.copy(into, writeProxyHeader(into, 0, addresses, tlvBytes.length));
  return into;
}

/** Corrects the checksum of a header, which must be the first TLV. */
export function checked(bytes: Buffer): Buffer {
  const value = (bytes[13] === 0x11 ? 28 : 52) + 3;
  putUint32(bytes, value, crc32c(bytes, 0, bytes.length, value));
  return bytes;
}

function patched(bytes: Buffer, at: number, byte: number): Buffer {
  bytes[at] = byte;
  return bytes;
}
