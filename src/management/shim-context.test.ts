import { expect, test } from 'bun:test';
import type { KubeObject } from '../kube/object.ts';
import { tenantRoute } from '../plan/testing/tenant-routes.ts';
import { newTenantControlPlane } from '../providers/testing/provider-objects.ts';
import { ManagementSnapshot } from './management-snapshot.ts';
import { shimContext } from './shim-context.ts';

function edge(name: string, creationTimestamp: string, annotations: string): KubeObject {
  const isDefault = { 'snicket.dev/is-default': 'true' };
  const object = {
    apiVersion: 'snicket.dev/v1alpha1',
    kind: 'Edge',
    metadata: { name, creationTimestamp, annotations: isDefault },
    spec: { driver: 'snicket', domain: 'example.test', annotations },
  };
  return object;
}

test('an object stays on the default Edge of its TenantRoutes when an older Edge becomes a default one', () => {
  const object = newTenantControlPlane('kamaji', 'blue');
  const edges = [edge('old', '2026-01-01', 'Ignored'), edge('young', '2026-02-01', 'Allowed')];
  const route = tenantRoute('blue', 'blue.example.test', {}, { edgeRef: { name: 'young' } });
  const ignoredBy = (...objects: readonly KubeObject[]) =>
    shimContext(new ManagementSnapshot(objects, { has: () => true }), object).ignoredBy;

  expect(ignoredBy(object, ...edges, route)).toBeUndefined();
  expect(ignoredBy(object, ...edges)).toBe('old');
});
