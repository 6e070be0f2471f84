import { expect, test } from 'bun:test';
import { withShallowManagedFields } from './managed-fields.ts';
import type { KubeObject } from './object.ts';

const BARE: KubeObject = { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'kubernetes' } };

test('keeps the managers and their top-level fields, and nothing below', () => {
  const snicket = { manager: 'snicket', operation: 'Apply', time: '2026-11-01T00:00:00Z' } as const;
  const fieldsV1 = { 'f:metadata': { 'f:labels': { 'f:a': {} } }, 'f:subsets': {} };
  const managedFields = [{ ...snicket, fieldsV1 }, { manager: 'kubelet' }];

  const object: KubeObject = { ...BARE, metadata: { name: 'x', managedFields } };

  const trimmed = withShallowManagedFields(object);

  expect(trimmed.metadata.managedFields).toEqual([
    { ...snicket, fieldsV1: { 'f:metadata': {}, 'f:subsets': {} } },
    { manager: 'kubelet', fieldsV1: {} },
  ]);
  expect(trimmed.metadata.name).toBe('x');
});

test('leaves an object without managedFields unchanged', () => {
  expect(withShallowManagedFields(BARE)).toBe(BARE);
});
