import { expect, test } from 'bun:test';
import { buildAttribute, parseMessages, type NetlinkMessage } from './netlink-message.ts';
import {
  addressesRequest,
  addRequest,
  isLocalRoute,
  linkRequest,
  parseLink,
  parseNodeAddress,
  removeRequest,
  routeRequest,
} from './route-message.ts';

function message(body: Buffer): NetlinkMessage {
  return { type: 0, flags: 0, sequence: 0, body };
}

/** Joins hex digits that are spaced like the fields in the manual. */
function hex(...parts: string[]): string {
  return parts.join('').replaceAll(' ', '');
}

const IPV6 = 'fd 00 00 64 00 00 00 00 00 00 00 00 00 00 00 01';

test('adds IPv4 as /32 with scope host, exclusively', () => {
  expect(addRequest(7, '100.64.64.1', 1).toString('hex')).toBe(
    hex(
      '28000000 1400 0506 07000000 00000000', // length, NEWADDR, REQUEST ACK EXCL CREATE, sequence
      '02 20 00 fe 01000000', // AF_INET, 32 bits, no flags, scope host, interface 1
      '0800 0200 64404001',
      '0800 0100 64404001',
    ),
  );
});

test('adds IPv6 as /128 without duplicate detection, without a route, and deprecated', () => {
  expect(addRequest(8, 'fd00:64::1', 1).toString('hex')).toBe(
    hex(
      '5c000000 1400 0506 08000000 00000000',
      '0a 80 00 00 01000000',
      `1400 0200 ${IPV6}`,
      `1400 0100 ${IPV6}`,
      '0800 0800 02020000',
      '1400 0600 00000000 ffffffff 00000000 00000000',
    ),
  );
});

test('removes an address with a prefix of full length', () => {
  expect(removeRequest(9, '100.64.64.1', 1).toString('hex')).toBe(
    hex(
      '28000000 1500 0500 09000000 00000000',
      '02 20 00 00 01000000',
      '08000200 64404001',
      '08000100 64404001',
    ),
  );
});

test('requests all addresses', () => {
  expect(addressesRequest(1).toString('hex')).toBe(
    hex('18000000 1600 0103 01000000 00000000', '00 00 00 00 00000000'),
  );
});

test('requests a link by its name or its number', () => {
  const byName = parseMessages(linkRequest(1, 'lo'));
  const byNumber = parseMessages(linkRequest(1, 7));

  expect(byName[0]!.body.toString('hex')).toBe(`${'00'.repeat(16)}07000300` + '6c6f0000');
  expect(byNumber[0]!.body.toString('hex')).toBe(`00000000${'07000000'}${'00'.repeat(8)}`);
});

test('reads an IPv4 address; of a point-to-point link, the local address', () => {
  const body = Buffer.concat([
    Buffer.from('0220 80fd 03000000'.replaceAll(' ', ''), 'hex'),
    buildAttribute(1, Buffer.from([10, 0, 0, 2])),
    buildAttribute(2, Buffer.from([10, 0, 0, 1])),
  ]);

  expect(parseNodeAddress(message(body))).toEqual({
    address: '10.0.0.1',
    prefixLength: 32,
    flags: 0x80,
    scope: 253,
    link: 3,
  });
});

test('reads an IPv6 address with flags of more than eight bits', () => {
  const body = Buffer.concat([
    Buffer.from('0a80 a200 01000000'.replaceAll(' ', ''), 'hex'),
    buildAttribute(1, Buffer.from(IPV6.replaceAll(' ', ''), 'hex')),
    buildAttribute(8, Buffer.from('a2020000', 'hex')),
  ]);

  expect(parseNodeAddress(message(body))).toEqual({
    address: 'fd00:64::1',
    prefixLength: 128,
    flags: 0x2a2,
    scope: 0,
    link: 1,
  });
});

test('ignores messages of other families and without an address', () => {
  const mpls = Buffer.concat([
    Buffer.from([28, 20, 0, 0, 1, 0, 0, 0]),
    buildAttribute(1, Buffer.alloc(4)),
  ]);

  expect(parseNodeAddress(message(mpls))).toBeUndefined();
  expect(parseNodeAddress(message(Buffer.from([2, 32, 0, 0, 1, 0, 0, 0])))).toBeUndefined();
});

test('reads a link, up or down', () => {
  const header = Buffer.from(hex('0000 0403 01000000 49000100 00000000'), 'hex');
  const name = buildAttribute(3, Buffer.from('lo\0'));

  expect(parseLink(message(Buffer.concat([header, name])))).toEqual({
    index: 1,
    name: 'lo',
    isUp: true,
  });
  header[8] = 0x48;
  expect(parseLink(message(Buffer.concat([header, name]))).isUp).toBe(false);
  expect(parseLink(message(header)).name).toBe('interface 1');
});

test('requests the route of a packet, and recognizes local routes', () => {
  const local = Buffer.from(hex('0a 80 00 00 ff 02 00 02 00000000'), 'hex');
  const forwarded = Buffer.from(hex('0a 80 00 00 fe 03 00 01 00000000'), 'hex');

  expect(routeRequest(5, 'fd00:64::1').toString('hex')).toBe(
    hex(
      '30000000 1a00 0500 05000000 00000000',
      '0a 80 00 00 00 00 00 00 00000000',
      `1400 0100 ${IPV6}`,
    ),
  );
  expect(isLocalRoute(message(local))).toBe(true);
  expect(isLocalRoute(message(forwarded))).toBe(false);
});
