import { describe, expect, test } from 'bun:test';
import type { KubeObject } from '../kube/object.ts';
import { tenantInput } from '../plan/testing/inputs.ts';
import { textAt } from '../kube/unstructured.ts';
import { proxyConfig, type ProxyConfigInput } from './proxy-credentials.ts';

const HOST = 'blue.k8s.example.com';
const [FIRST, SECOND] = ['203.0.113.10', '203.0.113.20'];
const REPORTED = { ...tenantInput(), host: HOST, port: 443, areAddressesReported: true };

function config(change: Partial<ProxyConfigInput>): KubeObject {
  return proxyConfig({ ...REPORTED, ...change });
}

function edgeIn(object: KubeObject): string | undefined {
  return textAt(object, 'data', 'edge');
}

/**
 * Returns the contents of the edge file for proxies that have address FIRST, after the address has
 * become unknown.
 */
function later(change: Partial<ProxyConfigInput>, before: Partial<ProxyConfigInput> = {}) {
  const currentConfig = config({ edgeAddresses: [FIRST], ...before });
  return edgeIn(config({ edgeAddresses: [], currentConfig, ...change }));
}

describe('while the controller of the Edge reports no addresses, the proxies', () => {
  test('keep those that it reported last, and the ConfigMap does not change', () => {
    const before = config({ edgeAddresses: [FIRST, '2001:db8::1'] });
    const after = config({ edgeAddresses: [], currentConfig: before });

    expect(after).toEqual(before);
    expect(edgeIn(after)).toBe(`[2001:db8::1]:443\n${FIRST}:443\n`);
  });

  test.each<[string, Partial<ProxyConfigInput>]>([
    ['host', { host: 'green.k8s.example.com' }],
    ['port', { port: 8443 }],
    ['Edge', { edge: 'other snicket' }],
    ['driver', { edge: 'shared haproxy' }],
    ['class or Gateway', { addressSource: 'other' }],
  ])('resolve the host after a change of the %s', (_, change) => {
    const { host, port } = { ...REPORTED, ...change };
    expect(later(change)).toBe(`${host}:${port}\n`);
  });

  test('resolve the host if the last addresses were those of the spec', () => {
    expect(later({}, { areAddressesReported: false })).toBe(`${HOST}:443\n`);
    expect(later({ areAddressesReported: false })).toBe(`${HOST}:443\n`);
  });

  test('resolve the host if there are no addresses that they could keep', () => {
    expect(later({ currentConfig: undefined })).toBe(`${HOST}:443\n`);
    expect(later({}, { edgeAddresses: ['lb.example.com'] })).toBe(`${HOST}:443\n`);
  });

  test.each(['nonsense', `${FIRST}:443\nevil.example.com:443\n`, `${FIRST}:8443\n`])(
    'resolve the host if another client wrote %j',
    (edge) => {
      const currentConfig = { ...config({ edgeAddresses: [FIRST] }), data: { edge } };
      expect(later({ currentConfig })).toBe(`${HOST}:443\n`);
    },
  );
});

test('new addresses replace those that were reported last', () => {
  expect(later({ edgeAddresses: [SECOND] })).toBe(`${SECOND}:443\n`);
});
