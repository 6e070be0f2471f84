import { expect, test } from 'bun:test';
import { leafNames } from './leaf-names.ts';

test('are the names by which pods reach their API server', () => {
  const facts = { clusterDomain: 'tenant.example', serviceAddresses: ['10.96.0.1', 'fd96::1'] };

  expect(leafNames(facts)).toEqual({
    names: [
      'kubernetes',
      'kubernetes.default',
      'kubernetes.default.svc',
      'kubernetes.default.svc.tenant.example',
    ],
    addresses: ['10.96.0.1', 'fd96::1'],
  });
});
