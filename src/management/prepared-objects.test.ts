import { expect, test } from 'bun:test';
import type { KubeObject } from '../kube/object.ts';
import { objectRecordOf, RECORD_ANNOTATION, recordText } from '../providers/preparation/record.ts';
import { newTenantControlPlane, ownerFor } from '../providers/testing/provider-objects.ts';
import { PreparedObjects } from './prepared-objects.ts';

/** Returns an Exposure that has recorded the TenantControlPlane of this name, or none. */
function exposure(name: string, tenant?: string): KubeObject {
  const { exposure: bare } = ownerFor(name);
  if (tenant === undefined) return bare;
  const path = ['spec', 'controlPlane', 'ingress', 'hostname'];
  const object = objectRecordOf(newTenantControlPlane('kamaji', tenant), [
    { path, wrote: ['a.test'] },
  ]);
  const text = recordText(bare, { objects: [object] }) ?? '';
  return { ...bare, metadata: { ...bare.metadata, annotations: { [RECORD_ANNOTATION]: text } } };
}

test('the owner of an object is the Exposure whose latest record contains it', () => {
  const prepared = new PreparedObjects();
  prepared.put(exposure('a', 'blue'));
  prepared.put(exposure('b'));

  expect(prepared.otherOwnerOf('uid-of-blue', 'tenants/b')).toBe('tenants/a');
  expect(prepared.otherOwnerOf('uid-of-blue', 'tenants/a')).toBeUndefined();
  expect(prepared.otherOwnerOf('uid-of-red', 'tenants/b')).toBeUndefined();

  prepared.put(exposure('a', 'red'));

  expect(prepared.otherOwnerOf('uid-of-blue', 'tenants/b')).toBeUndefined();
  expect(prepared.otherOwnerOf('uid-of-red', 'tenants/b')).toBe('tenants/a');

  prepared.remove('tenants/a');
  prepared.put(exposure('b'));

  expect(prepared.otherOwnerOf('uid-of-red', 'tenants/b')).toBeUndefined();
});

test('a record in another namespace, or without fields, has no effect', () => {
  const prepared = new PreparedObjects();
  const { metadata, ...rest } = exposure('a', 'blue');
  prepared.put({ ...rest, metadata: { ...metadata, namespace: 'evil' } });
  const bare = { ...objectRecordOf(newTenantControlPlane('kamaji', 'red'), []), fields: [] };
  const text = JSON.stringify({ version: 1, exposure: 'b', objects: [bare] });
  const { exposure: b } = ownerFor('b');
  prepared.put({ ...b, metadata: { ...b.metadata, annotations: { [RECORD_ANNOTATION]: text } } });

  expect(prepared.otherOwnerOf('uid-of-blue', 'tenants/c')).toBeUndefined();
  expect(prepared.otherOwnerOf('uid-of-red', 'tenants/c')).toBeUndefined();
});
