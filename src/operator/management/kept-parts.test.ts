import { expect, test } from 'bun:test';
import { gatewayPart, providedPart } from './kept-parts.ts';

test('how many routes a Gateway has is not kept, its listeners and addresses are', () => {
  const gateway = (attachedRoutes: number) => ({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: 'shared', managedFields: [{ manager: 'controller' }] },
    spec: { gatewayClassName: 'envoy' },
    status: {
      addresses: [{ value: '203.0.113.10' }],
      listeners: [{ name: 'tls', attachedRoutes, conditions: [] }],
    },
  });

  const kept = gatewayPart(gateway(1));

  expect(kept).toEqual(gatewayPart(gateway(2)));
  expect(kept).toMatchObject({
    spec: { gatewayClassName: 'envoy' },
    status: { addresses: [{ value: '203.0.113.10' }], listeners: [{ name: 'tls' }] },
  });
  expect(kept.metadata).toEqual({ name: 'shared' });
});

test("of a provider's object it is kept who wrote its spec, and not who wrote its status", () => {
  const object = {
    apiVersion: 'kamaji.clastix.io/v1alpha1',
    kind: 'TenantControlPlane',
    metadata: {
      name: 'blue',
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', mine: 'yes' },
      managedFields: [
        { manager: 'user', fieldsV1: { 'f:spec': {} } },
        { manager: 'kamaji', subresource: 'status', fieldsV1: { 'f:status': {} } },
      ],
    },
    spec: { a: 1 },
    status: { b: 2 },
  };

  expect(providedPart(object)).toEqual({
    ...object,
    metadata: {
      name: 'blue',
      annotations: { mine: 'yes' },
      managedFields: [{ manager: 'user', fieldsV1: { 'f:spec': {} } }],
    },
  });
});
