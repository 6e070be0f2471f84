import { expect, test } from 'bun:test';
import { embeddedAddress } from './embedded-address.ts';

test.each([
  ['tenants-blue.k8s.203.0.113.10.nip.io', '203.0.113.10'],
  ['tenants-blue.k8s.203-0-113-10.sslip.io', '203.0.113.10'],
  ['tenants-blue.k8s.lab-203-0-113-10.nip.io', '203.0.113.10'],
  ['tenants-blue.k8s.2001-db8--10.sslip.io', '2001:db8::10'],
  ['tenants-blue.k8s.2001-0db8-0-a-0-a-0-10.sslip.io', '2001:db8:0:a:0:a:0:10'],
  ['tenants-blue.k8s.cb00710a.nip.io', '203.0.113.10'],
  // The name of the tenant contains an address too, and dashes take precedence.
  ['node-10-0-0-1.k8s.203.0.113.10.nip.io', '10.0.0.1'],
])('Host %s resolves to %s.', (host, address) => {
  expect(embeddedAddress(host)?.addresses).toEqual([address]);
});

test('a name can contain an address of each family', () => {
  expect(embeddedAddress('a.k8s.203.0.113.10.2001-db8--a.sslip.io')?.addresses).toEqual([
    ...['203.0.113.10', '2001:db8::a'],
  ]);
});

test.each(['tenants-blue.k8s.example.nip.io', 'a.k8s.256.0.0.1.nip.io', 'a.1.2.3.sslip.io'])(
  '%s contains no address',
  (host) => {
    expect(embeddedAddress(host)).toEqual({
      service: host.endsWith('nip.io') ? 'nip.io' : 'sslip.io',
      addresses: [],
    });
  },
);

test.each(['a.k8s.203.0.113.10.example.com', 'a.catnip.io', 'sslip.io'])(
  '%s is an ordinary name',
  (host) => {
    expect(embeddedAddress(host)).toBeUndefined();
  },
);
