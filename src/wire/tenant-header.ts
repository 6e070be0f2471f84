/**
 * The signed header with which a worker's proxy proves its tenant to the gateway: a PROXY v2 header with the TLVs
 * `authority` (0x02), the host of the tenant, and `stamp` (0xE0, from the range for custom use):
 *
 *     offset  bytes
 *          0      1  version, 1
 *          1      8  time of signing, seconds since 1970, big endian (8 bytes, because 4 bytes end in 2106)
 *          9      8  nonce, random: no two signatures are equal, so a replay can be recognized
 *         17      4  key id
 *         21     32  HMAC-SHA256 with the key of the tenant over
 *                    "snicket tenant header v1" NUL, the 21 bytes above, family and transport (1 byte),
 *                    source and destination address and port as in the header, authority length (2 bytes), authority
 *
 * Other TLVs are not signed, so intermediaries can add some.
 */
import { addressBytes, type AddressFamily, type AddressPair } from './address-pair.ts';
import { putUint16, putUint32, putUint64, uint32, uint64, uint8 } from './bytes.ts';
import type { TenantOutcome } from './outcome.ts';
import {
  proxyHeaderBytes,
  TLV,
  TLV_HEADER_BYTES,
  writeProxyHeader,
  writeTlvHeader,
  type ProxyHeader,
} from './proxy-header.ts';
import type { ReplayGuard } from './replay-guard.ts';
import { MAX_NAME_BYTES } from './hello/server-name.ts';
import type { TenantKey } from './tenant-key.ts';

const STAMP_VERSION = 1;
const TIME = 1;
const NONCE = 9;
const NONCE_BYTES = 8;
const KEY_ID = 17;
const SIGNATURE = 21;
const SIGNATURE_BYTES = 32;
const STAMP_BYTES = SIGNATURE + SIGNATURE_BYTES;

/** The offsets of the family and the addresses in a PROXY header. */
const FAMILY = 13;
const ADDRESSES = 16;

/** Maximum length of a header that {@link signTenantHeader} writes. */
export const MAX_TENANT_HEADER_BYTES = tenantHeaderBytes('ipv6', MAX_NAME_BYTES);

/** Separates these signatures from any others that the same key might ever sign. */
const DOMAIN = Buffer.from('snicket tenant header v1\0', 'latin1');

/** The buffer for the signed message. It fits the longest message and always begins with the domain. */
const message = Buffer.alloc(DOMAIN.length + SIGNATURE + MAX_TENANT_HEADER_BYTES);
DOMAIN.copy(message);

/** Returns the length of a signed header for a host of this length. */
export function tenantHeaderBytes(family: AddressFamily, hostBytes: number): number {
  return proxyHeaderBytes(family, TLV_HEADER_BYTES + hostBytes + TLV_HEADER_BYTES + STAMP_BYTES);
}

/** Writes a nonce of eight bytes. Tests pass a known one. */
type FillNonce = (into: Buffer, at: number) => void;

function fillRandom(into: Buffer, at: number): void {
  crypto.getRandomValues(into.subarray(at, at + NONCE_BYTES));
}

/**
 * Writes the header of a connection at `at` and returns its length.
 *
 * @throws RangeError if it does not fit. {@link MAX_TENANT_HEADER_BYTES} always fit.
 */
export function signTenantHeader(
  into: Buffer,
  at: number,
  key: TenantKey,
  addresses: AddressPair,
  nowSeconds: number,
  fillNonce: FillNonce = fillRandom,
): number {
  const hostBytes = key.host.length;
  const total = tenantHeaderBytes(addresses.family, hostBytes);
  const tlvBytes = total - proxyHeaderBytes(addresses.family, 0);

  const authorityTlv = writeProxyHeader(into, at, addresses, tlvBytes);
  const authority = writeTlvHeader(into, authorityTlv, TLV.authority, hostBytes);
  into.write(key.host, authority, 'latin1');
  const authorityEnd = authority + hostBytes;
  const stamp = writeTlvHeader(into, authorityEnd, TLV.tenant, STAMP_BYTES);
  into[stamp] = STAMP_VERSION;
  putUint64(into, stamp + TIME, Math.floor(nowSeconds));
  fillNonce(into, stamp + NONCE);
  putUint32(into, stamp + KEY_ID, key.id);
  const signed = signature(into, at, addresses.family, stamp, authority, authorityEnd, key);
  signed.copy(into, stamp + SIGNATURE);
  return total;
}

/**
 * Verifies a header with the keys of the tenant that its authority names. There are two keys during a rotation of the
 * master key.
 *
 * The signature is verified before the time, so `tenant_expired` always means the clock of a real worker. With a guard,
 * each header is valid for one call: call this once, when the connection is ready to be routed.
 */
export function verifyTenantHeader(
  header: ProxyHeader,
  keys: readonly TenantKey[],
  nowSeconds: number,
  windowSeconds: number,
  guard?: ReplayGuard,
): TenantOutcome {
  const { bytes, start, family, stampStart, stampEnd, authorityStart, authorityEnd } = header;
  if (family === undefined || stampStart < 0 || authorityStart < 0) return 'tenant_unsigned';
  // The version comes first, because the length depends on it.
  if (stampEnd === stampStart) return 'tenant_stamp_malformed';
  if (uint8(bytes, stampStart) !== STAMP_VERSION) return 'tenant_version_unknown';
  if (stampEnd - stampStart !== STAMP_BYTES) return 'tenant_stamp_malformed';

  const key = keyOf(header, keys, uint32(bytes, stampStart + KEY_ID));
  if (key === undefined) return 'tenant_key_unknown';
  const expected = signature(bytes, start, family, stampStart, authorityStart, authorityEnd, key);
  const received = bytes.subarray(stampStart + SIGNATURE, stampEnd);
  if (!crypto.timingSafeEqual(expected, received)) return 'tenant_forged';

  const ageSeconds = nowSeconds - uint64(bytes, stampStart + TIME);
  // Written as a negation, so that NaN admits no header.
  if (!(ageSeconds <= windowSeconds)) return 'tenant_expired';
  if (!(ageSeconds >= -windowSeconds)) return 'tenant_not_yet_valid';
  if (guard !== undefined && !guard.isFirstUse(bytes, stampStart + SIGNATURE, nowSeconds)) {
    return 'tenant_replayed';
  }
  return 'valid';
}

/** Compares the host too, so that a key is valid only for its own host. */
function keyOf(header: ProxyHeader, keys: readonly TenantKey[], id: number): TenantKey | undefined {
  for (const key of keys) if (key.id === id && isAuthority(header, key.host)) return key;
  return undefined;
}

/** Compares bytes, because a string would be an allocation. Signers write the host in lower case. */
function isAuthority({ bytes, authorityStart, authorityEnd }: ProxyHeader, host: string): boolean {
  if (authorityEnd - authorityStart !== host.length) return false;
  for (let index = 0; index < host.length; index++) {
    if (uint8(bytes, authorityStart + index) !== host.charCodeAt(index)) return false;
  }
  return true;
}

/**
 * Returns the signature of the header at `header`. Its authority is the host of the key, so it has at most 255 bytes.
 */
function signature(
  bytes: Buffer,
  header: number,
  family: AddressFamily,
  stamp: number,
  authority: number,
  authorityEnd: number,
  key: TenantKey,
): Buffer {
  const addressesBytes = 2 * addressBytes(family) + 4;
  let at = DOMAIN.length;
  at += bytes.copy(message, at, stamp, stamp + SIGNATURE);
  at += bytes.copy(message, at, header + FAMILY, header + FAMILY + 1);
  at += bytes.copy(message, at, header + ADDRESSES, header + ADDRESSES + addressesBytes);
  at = putUint16(message, at, authorityEnd - authority);
  at += bytes.copy(message, at, authority, authorityEnd);
  return new Bun.CryptoHasher('sha256', key.secret).update(message.subarray(0, at)).digest();
}
