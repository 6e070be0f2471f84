import { expect, test } from 'bun:test';
import { trimGateway, trimProviderObject } from './trim-objects.ts';

test('drops the number of attached routes of a Gateway, and keeps its listeners and addresses', () => {
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

  const kept = trimGateway(gateway(1));

  expect(kept).toEqual(trimGateway(gateway(2)));
  expect(kept).toMatchObject({
    spec: { gatewayClassName: 'envoy' },
    status: { addresses: [{ value: '203.0.113.10' }], listeners: [{ name: 'tls' }] },
  });
  expect(kept.metadata).toEqual({ name: 'shared' });
});

test("keeps the field managers of a provider object's spec, and drops the field managers of its status", () => {
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

  expect(trimProviderObject(object)).toEqual({
    ...object,
    metadata: {
      name: 'blue',
      annotations: { mine: 'yes' },
      managedFields: [{ manager: 'user', fieldsV1: { 'f:spec': {} } }],
    },
  });
});
