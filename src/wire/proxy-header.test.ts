import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { addressPair, formatAddress } from './address-pair.ts';
import { crc32c } from './bytes.ts';
import {
  ProxyHeader,
  proxyHeaderBytes,
  TLV,
  writeProxyHeader,
  writeTlvHeader,
} from './proxy-header.ts';

const SIGNATURE = '0d0a0d0a000d0a515549540a';
const IPV4 = addressPair('10.1.2.3', 40000, '10.96.0.1', 443);
const IPV6 = addressPair('2001:db8::7', 40001, 'fd00::1', 6443);

function read(bytes: Buffer, reader = new ProxyHeader()) {
  return { outcome: reader.read(bytes, bytes.length), header: reader };
}

/** Returns a header with these bytes after the signature. */
function fromHex(hex: string) {
  return Buffer.from(SIGNATURE + hex.replaceAll(' ', ''), 'hex');
}

/** Returns a header from 10.1.2.3 with these TLVs: type and value. */
function withTlvs(...tlvs: readonly (readonly [number, string])[]) {
  const tlvBytes = tlvs.reduce((sum, [, value]) => sum + 3 + value.length, 0);
  const bytes = Buffer.alloc(proxyHeaderBytes('ipv4', tlvBytes));
  let at = writeProxyHeader(bytes, 0, IPV4, tlvBytes);
  for (const [type, value] of tlvs) {
    at = writeTlvHeader(bytes, at, type, value.length);
    at += bytes.write(value, at, 'latin1');
  }
  return bytes;
}

describe('a valid header', () => {
  test('with IPv4 addresses can be read as HAProxy writes it', () => {
    const { outcome, header } = read(fromHex('21 11 000c 0a010203 0a600001 9c40 01bb'));

    expect(outcome).toBe('header');
    expect(header.addresses()).toEqual({
      source: { address: '10.1.2.3', port: 40000 },
      destination: { address: '10.96.0.1', port: 443 },
    });
    expect(header.authority()).toBeUndefined();
    expect(header.end).toBe(28);
  });

  test('with IPv6 addresses can be written and read', () => {
    const bytes = Buffer.alloc(100, 0xff);
    const end = writeProxyHeader(bytes, 7, IPV6);
    const header = new ProxyHeader();

    expect(header.read(bytes, end, 7)).toBe('header');
    expect(header.end).toBe(end);
    expect(header.addresses()).toEqual({
      source: { address: '2001:db8::7', port: 40001 },
      destination: { address: 'fd00::1', port: 6443 },
    });
  });

  test('may be LOCAL with any other content', () => {
    const bytes = Buffer.alloc(16);
    writeProxyHeader(bytes, 0, undefined);

    for (const local of [bytes, fromHex('20 00 0000'), fromHex('20 ff 0003 ffffff')]) {
      const { outcome, header } = read(local);
      expect(outcome).toBe('header');
      expect(header.isLocal).toBe(true);
      expect(header.addresses()).toBeUndefined();
      expect(header.end).toBe(local.length);
    }
  });

  test('may be UNSPEC, without addresses', () => {
    const { outcome, header } = read(fromHex('21 00 0006 020001 61 ffff'));

    expect(outcome).toBe('header');
    expect(header.isLocal).toBe(false);
    expect(header.authority()).toBeUndefined();
  });

  test('returns the authority in lower case, and ignores unknown TLVs', () => {
    const { outcome, header } = read(
      withTlvs([0x04, '\0\0\0'], [TLV.authority, 'Tenant-A.Example'], [0xea, 'vpce'], [0x05, '']),
    );

    expect(outcome).toBe('header');
    expect(header.authority()).toBe('tenant-a.example');
  });

  test('does not affect the next read', () => {
    const reader = new ProxyHeader();
    read(withTlvs([TLV.authority, 'a.example'], [TLV.tenant, 'stamp']), reader);

    read(withTlvs(), reader);

    expect(reader.authority()).toBeUndefined();
    expect(reader.stampStart).toBe(-1);
  });
});

describe('an invalid header', () => {
  test.each([
    ['31 11 000c', 'proxy_version_unknown'],
    ['11 11 000c', 'proxy_version_unknown'],
    ['22 11 000c', 'proxy_command_unknown'],
    ['21 31 00d8', 'proxy_unix_address'],
    ['21 32 00d8', 'proxy_unix_address'],
    ['21 12 000c', 'proxy_not_stream'],
    ['21 22 0024', 'proxy_not_stream'],
    ['21 10 000c', 'proxy_family_unknown'],
    ['21 01 0000', 'proxy_family_unknown'],
    ['21 41 0000', 'proxy_family_unknown'],
    ['21 11 000b', 'proxy_address_truncated'],
    ['21 21 0023', 'proxy_address_truncated'],
    ['21 11 0ff1', 'proxy_header_too_long'],
    ['20 00 0ff1', 'proxy_header_too_long'],
    ['21 11 0ff0', 'incomplete'],
  ] as const)('is refused by its fixed part: %s is %s', (hex, code) => {
    expect(read(fromHex(hex)).outcome).toBe(code);
  });

  test.each([
    ['\x16\x03\x01', 'not_proxy_header'],
    ['\r\n\r\n\0\r\nQUIX', 'not_proxy_header'],
    ['\r\n\r\n\0\r\nQUIT', 'incomplete'],
    ['PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\n', 'proxy_v1_header'],
    ['PROX', 'incomplete'],
    ['POST / HTTP/1.1', 'not_proxy_header'],
    ['', 'incomplete'],
  ] as const)('is refused by its first bytes: %p is %s', (text, code) => {
    expect(read(Buffer.from(text, 'latin1')).outcome).toBe(code);
  });

  test.each([
    ['02', 'proxy_tlv_overruns_header'],
    ['0200', 'proxy_tlv_overruns_header'],
    ['020001', 'proxy_tlv_overruns_header'],
    ['020001 61 ff', 'proxy_tlv_overruns_header'],
    ['020001 61 020001 61', 'proxy_authority_duplicate'],
    ['e00001 61 e00001 61', 'proxy_tenant_duplicate'],
    ['030003 000000', 'proxy_checksum_malformed'],
    ['030004 00000000', 'proxy_checksum_wrong'],
    ['030004 00000000 030004 00000000', 'proxy_checksum_duplicate'],
  ] as const)('is refused by its TLVs: %s is %s', (hex, code) => {
    const tlvs = Buffer.from(hex.replaceAll(' ', ''), 'hex');
    const length = (12 + tlvs.length).toString(16).padStart(4, '0');
    const bytes = fromHex(`21 11 ${length} 0a010203 0a600001 9c40 01bb ${hex}`);

    expect(read(bytes).outcome).toBe(code);
    expect(read(bytes.subarray(0, -1)).outcome).toBe('incomplete');
  });
});

test('verifies the checksum over the whole header', () => {
  const bytes = withTlvs([TLV.checksum, '\0\0\0\0'], [TLV.authority, 'a.example']);
  bytes.writeUInt32BE(crc32c(bytes, 0, bytes.length), 31);
  expect(read(bytes).outcome).toBe('header');

  for (let at = 16; at < bytes.length - 12; at++) {
    const broken = Buffer.from(bytes);
    broken[at]! ^= 0x10;
    expect(read(broken).outcome).toBeOneOf([
      'proxy_checksum_wrong',
      'proxy_checksum_malformed', // the length of the checksum
      'proxy_tlv_overruns_header',
      ...(at === 28 ? (['header'] as const) : []), // the type of the checksum, which is then another TLV
    ]);
  }
});

test('does not write a header that does not fit', () => {
  expect(() => writeProxyHeader(Buffer.alloc(30), 3, IPV4)).toThrow(
    'a PROXY header of 28 bytes does not fit at 3 of 30',
  );
});

test('round-trips any header, and returns incomplete for any prefix', () => {
  const address = (bytes: number) => fc.uint8Array({ minLength: bytes, maxLength: bytes });
  const port = fc.nat(0xffff);
  const pair = fc.oneof(
    fc.tuple(fc.constant('ipv4' as const), address(4), address(4), port, port),
    fc.tuple(fc.constant('ipv6' as const), address(16), address(16), port, port),
  );
  fc.assert(
    fc.property(
      pair,
      fc.nat(),
      ([family, source, destination, sourcePort, destinationPort], cut) => {
        const bytes = Buffer.alloc(proxyHeaderBytes(family, 0));
        writeProxyHeader(bytes, 0, { family, source, destination, sourcePort, destinationPort });
        const { outcome, header } = read(bytes);

        expect(outcome).toBe('header');
        expect(header.addresses()).toEqual({
          source: { address: formatAddress(source, 0, family), port: sourcePort },
          destination: { address: formatAddress(destination, 0, family), port: destinationPort },
        });
        expect(header.read(bytes, cut % bytes.length)).toBe('incomplete');
      },
    ),
  );
});

test('never throws, and never waits for bytes beyond its limit', () => {
  const small = new ProxyHeader(64);
  const tail = fc.uint8Array({ maxLength: 100 });
  const arrival = fc.oneof(
    tail.map((bytes) => Buffer.from(bytes)),
    tail.map((bytes) => Buffer.concat([fromHex('21'), bytes])),
    tail.map((bytes) => Buffer.concat([fromHex('21 11 0020'), bytes])),
  );
  fc.assert(
    fc.property(arrival, (bytes) => {
      const outcome = small.read(bytes, bytes.length);
      small.authority();
      small.addresses();

      if (bytes.length >= 64) expect(outcome).not.toBe('incomplete');
    }),
  );
});
