import { expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  conditionAt,
  listAt,
  numberAt,
  quotedAt,
  textAt,
  textMapAt,
  textsAt,
  valueAt,
} from './unstructured.ts';

const OBJECT = {
  spec: { name: 'a', empty: '', port: 1, hosts: ['a', 2, 'b'], labels: { a: 'b', c: 3 } },
  status: { conditions: [null, { type: 'Ready', status: 'True' }] },
};

test('reads existing fields', () => {
  expect(textAt(OBJECT, 'spec', 'name')).toBe('a');
  expect(numberAt(OBJECT, 'spec', 'port')).toBe(1);
  expect(listAt(OBJECT, 'spec', 'hosts')).toEqual(['a', 2, 'b']);
  expect(textsAt(OBJECT, 'spec', 'hosts')).toEqual(['a', 'b']);
  expect([...textMapAt(OBJECT, 'spec', 'labels')]).toEqual([['a', 'b']]);
  expect(conditionAt(OBJECT, 'Ready', 'status', 'conditions')).toEqual({
    type: 'Ready',
    status: 'True',
  });
});

test('treats a field of another type as absent', () => {
  expect(textAt(OBJECT, 'spec', 'port')).toBeUndefined();
  expect(textAt(OBJECT, 'spec', 'empty')).toBeUndefined();
  expect(numberAt(OBJECT, 'spec', 'name')).toBeUndefined();
  expect(listAt(OBJECT, 'spec', 'name')).toEqual([]);
  expect(valueAt(OBJECT, 'spec', 'name', 'length')).toBeUndefined();
});

test('does not find inherited properties', () => {
  expect(valueAt({}, 'constructor')).toBeUndefined();
  expect(valueAt({}, '__proto__')).toBeUndefined();
});

test('never throws', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.array(fc.string(), { maxLength: 3 }), (value, path) => {
      for (const read of [valueAt, textAt, numberAt, listAt, textsAt, textMapAt, quotedAt])
        read(value, ...path);
      conditionAt(value, 'Ready', ...path);
    }),
  );
});

test.each([
  ['One line.', 'One line'],
  ['Two\n  lines', 'Two lines'],
  ['And so on...', 'And so on...'],
  ['x'.repeat(400), `${'x'.repeat(300)}...`],
  [undefined, 'nothing'],
])('quotes %j in one line without a full stop', (text, quoted) => {
  expect(quotedAt({ text }, 'text')).toBe(quoted);
});
