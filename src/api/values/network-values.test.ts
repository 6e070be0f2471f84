import { describe, expect, test } from 'bun:test';
import * as fc from 'fast-check';
import { address, domain, endpoint, host, virtualAddress } from './network-values.ts';
import { NETWORK_TEXTS } from '../testing/network-texts.ts';

const SCHEMAS = { host, domain, address, virtualAddress, endpoint };

describe.each(Object.entries(NETWORK_TEXTS))('%s', (field, { right, wrong }) => {
  const schema = SCHEMAS[field as keyof typeof SCHEMAS];

  test.each(right)('accepts %j', (text) => {
    expect(schema.safeParse(text).success).toBeTrue();
  });

  test.each(wrong)('rejects %j', (text) => {
    expect(schema.safeParse(text).success).toBeFalse();
  });
});

test('accepts every IPv4 address as a virtual one that is not loopback, link-local, multicast or unspecified', () => {
  fc.assert(
    fc.property(fc.ipV4(), (text) => {
      const [first = 0, second = 0] = text.split('.').map(Number);
      const special =
        first === 127 ||
        (first === 169 && second === 254) ||
        (first >= 224 && first < 240) ||
        text === '0.0.0.0' ||
        text === '255.255.255.255';

      expect(virtualAddress.safeParse(text).success).toBe(!special);
    }),
  );
});

test('accepts every pair of an address and a port as an endpoint, if IPv6 is in brackets', () => {
  const port = fc.integer({ min: 1, max: 65_535 });
  fc.assert(
    fc.property(fc.ipV4(), fc.ipV6(), port, (four, six, number) => {
      expect(endpoint.safeParse(`${four}:${number}`).success).toBe(address.safeParse(four).success);
      expect(endpoint.safeParse(`[${six}]:${number}`).success).toBe(address.safeParse(six).success);
      expect(endpoint.safeParse(`${six}:${number}`).success).toBeFalse();
    }),
  );
});
