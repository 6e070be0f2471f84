import { expect, test } from 'bun:test';
import { parseListenAddress } from '../net/listen-address.ts';
import { unservedPortWarnings } from './edge-port.ts';

function edge(spec: object) {
  const kind = { apiVersion: 'snicket.dev/v1alpha1', kind: 'Edge' };
  return { ...kind, metadata: { name: 'shared' }, spec };
}

const places = [...parseListenAddress('127.0.0.1:6443'), ...parseListenAddress('[::1]:8443')];

test('reports nothing for an Edge whose port has a listener', () => {
  expect(unservedPortWarnings([edge({ port: 6443 }), edge({ port: 8443 })], places)).toEqual([]);
});

test.each([
  [{ port: 443 }, 443],
  [{ port: 7443 }, 7443],
])('reports an Edge %j without a listener, with the expected address', (spec, port) => {
  expect(unservedPortWarnings([edge({ port: 6443 }), edge(spec)], places)).toEqual([
    `no --listen address has the port of Edge shared, ${port} (listening on 127.0.0.1:6443, [::1]:8443): clients and workers dial ${port}, so forward it here with a NAT or load balancer, or set spec.port to the port of a --listen address`,
  ]);
});
