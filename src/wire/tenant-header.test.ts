import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { addressPair } from './address-pair.ts';
import {
  ProxyHeader,
  proxyHeaderBytes,
  TLV,
  writeProxyHeader,
  writeTlvHeader,
} from './proxy-header.ts';
import { ReplayGuard } from './replay-guard.ts';
import {
  MAX_TENANT_HEADER_BYTES,
  signTenantHeader,
  tenantHeaderBytes,
  verifyTenantHeader,
} from './tenant-header.ts';
import { deriveTenantSecret, tenantKey } from './tenant-key.ts';

const MASTER = Buffer.from(Array.from({ length: 32 }, (_, index) => index));
const HOST = 'tenant-a.k8s.example.com';
const KEY = keyOf(HOST);
const ADDRESSES = addressPair('10.1.2.3', 40000, '10.96.0.1', 443);
const NOW = 1_800_000_000;
const WINDOW = 60;
/** The offset of the stamp in a header for {@link HOST} over IPv4. */
const STAMP = 28 + 3 + HOST.length + 3;

function keyOf(host: string, master = MASTER) {
  return tenantKey(host, deriveTenantSecret(master, host));
}

function signed({ key = KEY, ends: addresses = ADDRESSES, now = NOW } = {}) {
  const bytes = Buffer.alloc(MAX_TENANT_HEADER_BYTES);
  return bytes.subarray(0, signTenantHeader(bytes, 0, key, addresses, now));
}

function verify(
  bytes: Buffer,
  { keys = [KEY], now = NOW, guard = undefined as ReplayGuard | undefined } = {},
) {
  const header = new ProxyHeader();
  expect(header.read(bytes, bytes.length)).toBe('header');
  return verifyTenantHeader(header, keys, now, WINDOW, guard);
}

// Computed independently, with Python's hmac and struct.
const KNOWN =
  '0d0a0d0a000d0a515549540a2111005f0a0102030a6000019c4001bb02001874' +
  '656e616e742d612e6b38732e6578616d706c652e636f6de0003501000000006b' +
  '49d200010203040506070833a5bceacdee92b862cabb45c414efb004d6455a93' +
  '9f6725fbf73d39eb3107f707027b21';

test('writes a header byte by byte as documented', () => {
  const into = Buffer.alloc(200, 0xff);
  const length = signTenantHeader(into, 50, KEY, ADDRESSES, NOW + 0.9, (bytes, at) => {
    Buffer.from('0102030405060708', 'hex').copy(bytes, at);
  });

  expect(length).toBe(tenantHeaderBytes('ipv4', HOST.length));
  expect(into.toString('hex', 50, 50 + length)).toBe(KNOWN);
  expect(into.subarray(50 + length).every((byte) => byte === 0xff)).toBe(true);
});

test('verifies a header of the tenant', () => {
  const header = new ProxyHeader();
  const bytes = signed({ ends: addressPair('2001:db8::7', 1, 'fd00::1', 2) });
  header.read(bytes, bytes.length);

  expect(verifyTenantHeader(header, [KEY], NOW, WINDOW)).toBe('valid');
  expect(header.authority()).toBe(HOST);
  expect(header.addresses()?.source.address).toBe('2001:db8::7');
});

test('writes the longest header, and throws if the buffer is too small', () => {
  const key = keyOf(`${'d.'.repeat(127)}x`);
  const bytes = signed({ key, ends: addressPair('::1', 1, '::2', 2) });

  expect(bytes.length).toBe(MAX_TENANT_HEADER_BYTES);
  expect(verify(bytes, { keys: [key] })).toBe('valid');
  expect(() => signTenantHeader(Buffer.alloc(100), 0, key, ADDRESSES, NOW)).toThrow(RangeError);
});

test('headers differ, even within the same second', () => {
  expect(signed()).not.toEqual(signed());
});

test('accepts headers of both keys during a rotation of the master key', () => {
  const next = keyOf(HOST, Buffer.alloc(32, 9));

  expect(verify(signed(), { keys: [next, KEY] })).toBe('valid');
  expect(verify(signed({ key: next }), { keys: [next, KEY] })).toBe('valid');
});

describe('refuses', () => {
  /** Returns a header with an authority and this stamp. */
  function stamped(stamp: Buffer | undefined, authority: string | undefined = HOST) {
    const tlvs: (readonly [number, Buffer])[] = [];
    if (authority !== undefined) tlvs.push([TLV.authority, Buffer.from(authority)]);
    if (stamp !== undefined) tlvs.push([TLV.tenant, stamp]);
    const tlvBytes = tlvs.reduce((sum, [, value]) => sum + 3 + value.length, 0);
    const bytes = Buffer.alloc(proxyHeaderBytes('ipv4', tlvBytes));
    let at = writeProxyHeader(bytes, 0, ADDRESSES, tlvBytes);
    for (const [type, value] of tlvs) {
      at = writeTlvHeader(bytes, at, type, value.length);
      at += value.copy(bytes, at);
    }
    return bytes;
  }
  const stamp = () => Buffer.from(signed().subarray(STAMP));

  test('a header without stamp, without authority or without addresses', () => {
    const local = Buffer.alloc(16);
    writeProxyHeader(local, 0, undefined);

    expect(verify(stamped(undefined))).toBe('tenant_unsigned');
    expect(verify(stamped(stamp(), ''))).toBe('tenant_key_unknown');
    expect(verify(local)).toBe('tenant_unsigned');
    const header = new ProxyHeader();
    const noAuthority = Buffer.concat([signed().subarray(0, 28), signed().subarray(STAMP - 3)]);
    noAuthority.writeUInt16BE(noAuthority.length - 16, 14);
    expect(header.read(noAuthority, noAuthority.length)).toBe('header');
    expect(verifyTenantHeader(header, [KEY], NOW, WINDOW)).toBe('tenant_unsigned');
  });

  test('an unknown version of any length', () => {
    const other = stamp();
    other[0] = 2;

    expect(verify(stamped(other))).toBe('tenant_version_unknown');
    expect(verify(stamped(Buffer.from([2])))).toBe('tenant_version_unknown');
  });

  test('a stamp of the wrong length', () => {
    expect(verify(stamped(Buffer.alloc(0)))).toBe('tenant_stamp_malformed');
    expect(verify(stamped(stamp().subarray(0, -1)))).toBe('tenant_stamp_malformed');
    expect(verify(stamped(Buffer.concat([stamp(), Buffer.alloc(1)])))).toBe(
      'tenant_stamp_malformed',
    );
  });

  test('a key that does not belong to the tenant', () => {
    const other = keyOf('tenant-b.example');

    expect(verify(signed(), { keys: [] })).toBe('tenant_key_unknown');
    expect(verify(signed(), { keys: [other] })).toBe('tenant_key_unknown');
    // The right key with the name of another tenant: a key is valid for its own tenant only.
    expect(verify(stamped(stamp(), 'tenant-b.example'), { keys: [KEY] })).toBe(
      'tenant_key_unknown',
    );
  });

  test('a key with the id of another key', () => {
    const impostor = { ...keyOf(HOST, Buffer.alloc(32, 9)), id: KEY.id };

    expect(verify(signed({ key: impostor }))).toBe('tenant_forged');
  });

  test('a change of any signed bit', () => {
    const bytes = signed();
    const header = new ProxyHeader();
    fc.assert(
      fc.property(fc.nat(bytes.length * 8 - 1), (bit) => {
        const changed = Buffer.from(bytes);
        changed[bit >> 3]! ^= 1 << (bit & 7);
        if (header.read(changed, changed.length) !== 'header') return;

        expect(verifyTenantHeader(header, [KEY], NOW, WINDOW)).not.toBe('valid');
      }),
      // First the bit that turns the `t` of the authority into a `T`, because the lookup of a route ignores case.
      { examples: [[31 * 8 + 5]], numRuns: 500 },
    );
  });

  test('a time outside of the window', () => {
    expect(verify(signed(), { now: NOW + WINDOW })).toBe('valid');
    expect(verify(signed(), { now: NOW + WINDOW + 1 })).toBe('tenant_expired');
    expect(verify(signed(), { now: NOW - WINDOW })).toBe('valid');
    expect(verify(signed(), { now: NOW - WINDOW - 1 })).toBe('tenant_not_yet_valid');
  });

  test('every header if the clock returns NaN', () => {
    expect(verify(signed(), { now: Number.NaN })).toBe('tenant_expired');
  });

  test('the second use of a header', () => {
    const guard = new ReplayGuard({ windowSeconds: WINDOW });
    const bytes = signed();

    expect(verify(bytes, { guard })).toBe('valid');
    expect(verify(bytes, { guard, now: NOW + 30 })).toBe('tenant_replayed');
    expect(verify(signed(), { guard })).toBe('valid');
  });

  test('a forged header without recording it as used', () => {
    const guard = new ReplayGuard({ windowSeconds: WINDOW });
    const bytes = signed();
    const forged = Buffer.from(bytes);
    forged[16]! ^= 1;

    expect(verify(forged, { guard })).toBe('tenant_forged');
    expect(guard.size).toBe(0);
    expect(verify(bytes, { guard })).toBe('valid');
  });
});

test('accepts a signed header with additional TLVs', () => {
  const host = fc.stringMatching(/^[a-z]{1,20}\.[a-z]{1,20}$/);
  fc.assert(
    fc.property(host, fc.nat(2 ** 40), fc.uint8Array({ maxLength: 50 }), (name, now, value) => {
      const key = keyOf(name);
      const bytes = Buffer.concat([
        signed({ key, now }),
        Buffer.from([0xea, 0, value.length]),
        value,
      ]);
      bytes.writeUInt16BE(bytes.length - 16, 14);

      expect(verify(bytes, { keys: [key], now })).toBe('valid');
    }),
  );
});
