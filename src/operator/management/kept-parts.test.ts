import { expect, test } from 'bun:test';
import { gatewayPart } from './kept-parts.ts';

test('how many routes a Gateway has is not kept, its listeners and addresses are', () => {
  const gateway = (attachedRoutes: number) => ({
    ...{ apiVersion: 'gateway.networking.k8s.io/v1', kind: 'Gateway' },
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
