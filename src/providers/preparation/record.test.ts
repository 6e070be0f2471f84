import { describe, expect, test } from 'bun:test';
import type { KubeObject } from '../../kube/object.ts';
import { newTenantControlPlane, ownerFor } from '../testing/provider-objects.ts';
import {
  objectRecordOf,
  RECORD_ANNOTATION,
  recordOf,
  recordText,
  type FieldRecord,
} from './record.ts';

const { exposure: EXPOSURE } = ownerFor('blue');
const FIELD: FieldRecord = {
  path: ['spec', 'controlPlane', 'ingress', 'hostname'],
  wrote: ['a.test:443'],
  was: 'b.test',
};
const OBJECTS = [objectRecordOf(newTenantControlPlane('kamaji', 'blue'), [FIELD])];

function withRecord(text: string): KubeObject {
  const { metadata } = EXPOSURE;
  return { ...EXPOSURE, metadata: { ...metadata, annotations: { [RECORD_ANNOTATION]: text } } };
}

describe('the record of an Exposure', () => {
  test('is unreadable without an exception if it is nested too deeply', () => {
    const deep = `${'['.repeat(16_000)}${']'.repeat(16_000)}`;
    const field = `{"path":["spec","a"],"entries":[{"entry":${deep}}]}`;
    const object = `{"group":"kamaji.clastix.io","kind":"TenantControlPlane","name":"blue","uid":"1","fields":[${field}]}`;

    const found = recordOf(withRecord(`{"version":1,"exposure":"blue","objects":[${object}]}`));

    expect(found).toEqual({ problem: 'unreadable' });
  });

  test('parses to what was written', () => {
    const text = recordText(EXPOSURE, { objects: OBJECTS });

    expect(text).toBe(
      '{"version":1,"exposure":"blue","objects":[{"group":"kamaji.clastix.io","kind":"TenantControlPlane","name":"blue","uid":"uid-of-blue","fields":[{"path":["spec","controlPlane","ingress","hostname"],"wrote":["a.test:443"],"was":"b.test"}]}]}',
    );
    expect(recordOf(withRecord(text ?? ''))).toEqual({ objects: OBJECTS });
  });

  test('is absent if there is nothing to record, or if it belongs to another Exposure', () => {
    const other = recordText(ownerFor('green').exposure, { objects: OBJECTS }) ?? '';

    expect(recordOf(EXPOSURE)).toEqual({ objects: [] });
    expect(recordOf(withRecord(other))).toEqual({ objects: [] });
    expect(recordText(EXPOSURE, { objects: [] })).toBeNull();
    expect(recordText(EXPOSURE, { objects: [{ ...OBJECTS[0]!, fields: [] }] })).toBeNull();
  });

  test.each([
    ['{"version":2}', { problem: 'newer', version: 2 }],
    ['{"version":2,"exposure":7,"objects":{}}', { problem: 'newer', version: 2 }],
    [`{"version":3,"a":"${'a'.repeat(100_000)}"}`, { problem: 'newer', version: 3 }],
    ['{"version":1}', { problem: 'unreadable' }],
    ['{"version":0}', { problem: 'unreadable' }],
    ['{"version":1.5}', { problem: 'unreadable' }],
    ['{"version":"2"}', { problem: 'unreadable' }],
    ['{"version":1,"exposure":"blue","objects":[],"more":1}', { problem: 'unreadable' }],
    ['[', { problem: 'unreadable' }],
    ['null', { problem: 'unreadable' }],
    ['['.repeat(100_000), { problem: 'unreadable' }],
    ['', { problem: 'unreadable' }],
  ])('is not used if it is %p', (text, problem) => {
    expect(recordOf(withRecord(text))).toEqual(problem as object as ReturnType<typeof recordOf>);
  });

  test('is not written if it is longer than an annotation should be', () => {
    const long = { ...FIELD, was: 'x'.repeat(40_000) };
    const objects = [objectRecordOf(newTenantControlPlane('kamaji', 'blue'), [long])];

    expect(recordText(EXPOSURE, { objects })).toBeUndefined();
  });
});
