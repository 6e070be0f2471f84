import { describe, expect, test } from 'bun:test';
import type { ManagedFields } from '../../kube/object.ts';
import { ownersPatch, released } from './field-owners.ts';

const HOST = ['spec', 'ingress', 'hostname'];
const NAMES = ['spec', 'certSANs'];

function entry(fieldsV1: ManagedFields['fieldsV1'], rest: ManagedFields = {}): ManagedFields {
  return { manager: 'snicket', operation: 'Apply', ...(fieldsV1 && { fieldsV1 }), ...rest };
}

describe('a released field', () => {
  test('is no longer owned, and its siblings still are', () => {
    const ours = entry({
      'f:spec': { 'f:ingress': { 'f:hostname': {}, 'f:port': {} }, 'f:certSANs': {} },
    });

    expect(released([ours], [HOST, NAMES])).toEqual([
      entry({ 'f:spec': { 'f:ingress': { 'f:port': {} } } }),
    ]);
  });

  test('leaves no empty parent, which would mean ownership of the whole parent', () => {
    const ours = entry({
      'f:metadata': { 'f:annotations': { 'f:a': {} } },
      'f:spec': { '.': {}, 'f:ingress': { '.': {}, 'f:hostname': {} } },
    });

    expect(released([ours], [HOST])).toEqual([
      entry({ 'f:metadata': { 'f:annotations': { 'f:a': {} } } }),
    ]);
  });

  test('includes the items of an associative list', () => {
    const ours = entry({ 'f:spec': { 'f:certSANs': { 'v:"a"': {} }, 'f:port': {} } });

    expect(released([ours], [NAMES])).toEqual([entry({ 'f:spec': { 'f:port': {} } })]);
  });

  test('removes an empty entry, and one of a previous patch', () => {
    const fields = { 'f:spec': { 'f:ingress': { 'f:hostname': {} } } };
    const entries = [entry(fields), entry(fields, { operation: 'Update' })];

    expect(released(entries, [HOST])).toEqual([]);
    expect(ownersPatch({ name: 'a', resourceVersion: '7' }, [])).toEqual({
      metadata: { resourceVersion: '7', managedFields: [{}] },
    });
  });

  test('is not removed from other managers', () => {
    const fields = { 'f:spec': { 'f:ingress': { 'f:hostname': {} } } };
    const entries = [
      entry(fields, { manager: 'user' }),
      entry(fields, { operation: 'Update', subresource: 'status' }),
      entry(undefined),
      entry({ 'f:spec': { 'f:port': {} } }),
    ];

    expect(released(entries, [HOST, NAMES])).toEqual(entries);
  });
});
