import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { differences } from './differences.ts';

test('finds nothing if the live object has all desired fields', () => {
  const desired = { spec: { ports: [{ port: 443 }], name: 'a' } };
  const live = { spec: { ports: [{ port: 443, protocol: 'TCP' }], name: 'a' }, status: {} };

  expect(differences(desired, live)).toEqual([]);
});

test.each([
  ['another value', { a: 1 }, { a: 2 }, '.a', 2],
  ['a missing value', { a: { b: 1 } }, { a: {} }, '.a.b', undefined],
  ['a missing object', { a: { b: 1 } }, {}, '.a', undefined],
  ['another type', { a: '1' }, { a: 1 }, '.a', 1],
  ['a list that is longer', { a: [1] }, { a: [1, 2] }, '.a', [1, 2]],
  ['a list in another order', { a: [1, 1] }, { a: [1, 2] }, '.a[1]', 2],
  ['an item with another field', { a: [{ b: 1 }] }, { a: [{ b: 2 }] }, '.a[0].b', 2],
  ['a map in place of a list', { a: [] }, { a: {} }, '.a', {}],
  [
    'a field with the name of an inherited property',
    { constructor: 'x' },
    {},
    '.constructor',
    undefined,
  ],
])('finds %s, with its path', (_, desired, live, path, found) => {
  expect(differences(desired, live)).toEqual([{ path, found }]);
});

test('ignores undefined and null in the desired state', () => {
  expect(differences({ a: undefined, b: null }, {})).toEqual([]);
});

const json = fc.jsonValue({ maxDepth: 4 });
const map = fc.dictionary(fc.string(), json, { maxKeys: 5 });

test('finds nothing between equal values, and nothing if a server adds fields', () => {
  fc.assert(
    fc.property(json, (value) => {
      expect(differences(value, structuredClone(value))).toEqual([]);
      expect(differences(value, withMore(value))).toEqual([]);
    }),
  );
});

test('finds any single changed value', () => {
  fc.assert(
    fc.property(map, fc.string(), fc.integer(), (object, field, value) => {
      const desired = { ...object, [field]: value };
      const live = { ...structuredClone(object), [field]: value + 1 };

      const found = differences(desired, live);

      expect(found).toEqual([{ path: `.${field}`, found: value + 1 }]);
    }),
  );
});

/** Returns the value with an additional field in every map. */
function withMore(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withMore);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([field, child]) => [field, withMore(child)]);
  return { 'added by a server': 1, ...Object.fromEntries(fields) };
}
