import { expect, test } from 'bun:test';
import { destinationOf } from './destination.ts';

test('returns addresses of both families, IPv4 first, normalized and without duplicates', () => {
  const { to, findings } = destinationOf('shared', [
    ...['2001:DB8:0::10', '203.0.113.10', '2001:db8::10', '203.0.113.9'],
  ]);

  expect(to).toEqual({
    kind: 'addresses',
    addresses: ['203.0.113.10', '203.0.113.9', '2001:db8::10'],
  });
  expect(findings).toEqual([]);
});

test('returns the name of a load balancer', () => {
  const { to, findings } = destinationOf('shared', ['LB-1.cloud_a.example.net.']);

  expect(to).toEqual({ kind: 'name', host: 'lb-1.cloud_a.example.net' });
  expect(findings).toEqual([]);
});

test('prefers addresses to names, uses the first of several names, and warns', () => {
  const mixed = destinationOf('shared', ['lb.example.net', '203.0.113.10']);
  const names = destinationOf('shared', ['a.example.net', 'b.example.net']);

  expect(mixed.to).toEqual({ kind: 'addresses', addresses: ['203.0.113.10'] });
  expect(mixed.findings).toMatchObject([
    {
      code: 'RecordsUnsupported',
      severity: 'warning',
      message:
        'Edge shared also has lb.example.net, but a name cannot point to both: only its IP addresses are used.',
    },
  ]);
  expect(names.to).toEqual({ kind: 'name', host: 'a.example.net' });
  expect(names.findings).toMatchObject([{ code: 'RecordsUnsupported' }]);
});

test('reports an Edge without an address', () => {
  const { to, findings } = destinationOf('shared', []);

  expect(to).toBeUndefined();
  expect(findings).toMatchObject([{ code: 'AddressUnknown', severity: 'error' }]);
});

test.each([
  "lb'; Remove-Item C:\\ -Recurse; '",
  'a b',
  'a..b',
  '',
  'a\nb',
  `${'a'.repeat(64)}.net`,
])('rejects an address that is not a DNS name: %j', (text) => {
  const { to, findings } = destinationOf('shared', [text]);

  expect(to).toBeUndefined();
  expect(findings.map(({ code }) => code)).toEqual(['AddressUnknown', 'AddressUnknown']);
});
