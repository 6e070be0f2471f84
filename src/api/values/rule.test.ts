import { expect, test } from 'bun:test';
import * as z from 'zod';
import { CEL_RULES, matching, withRules } from './rule.ts';

test('generates the same message in both languages', () => {
  const schema = withRules(z.object({ name: z.string(), port: z.int() }), {
    cel: 'self.port > 1',
    holds: ({ port }) => port > 1,
    sentence: '{self.name} has port {string(self.port)}; say "2"',
  });

  expect(schema.meta()?.[CEL_RULES]).toEqual([
    {
      rule: 'self.port > 1',
      messageExpression: String.raw`self.name + " has port " + string(self.port) + "; say \"2\""`,
    },
  ]);
  expect(schema.safeParse({ name: 'a', port: 1 }).error?.issues[0]?.message).toBe(
    'a has port 1; say "2"',
  );
});

test('has a plain message if the sentence contains no value', () => {
  const schema = withRules(z.string(), matching('^[a-z\\\\]+$', 'letters only'));

  expect(schema.meta()).toEqual({
    [CEL_RULES]: [{ rule: String.raw`self.matches("^[a-z\\\\]+$")`, message: 'letters only' }],
  });
});

test('reports the field that the rule names', () => {
  const schema = withRules(z.object({ a: z.object({ b: z.string() }) }), {
    cel: "self.a.b != ''",
    holds: ({ a }) => a.b !== '',
    sentence: 'empty',
    field: ['a', 'b'],
  });

  expect(schema.meta()?.[CEL_RULES]).toMatchObject([{ fieldPath: '.a.b' }]);
  expect(schema.safeParse({ a: { b: '' } }).error?.issues).toMatchObject([{ path: ['a', 'b'] }]);
});

test('leaves a transition rule to the API server', () => {
  const schema = withRules(z.object({ name: z.string() }), {
    cel: 'self.name == oldSelf.name',
    sentence: 'it was {oldSelf.name}',
  });

  expect(schema.meta()?.[CEL_RULES]).toEqual([
    { rule: 'self.name == oldSelf.name', messageExpression: '"it was " + oldSelf.name' },
  ]);
  expect(schema.safeParse({ name: 'a' }).success).toBeTrue();
});

test('reports every violated rule', () => {
  const no = { cel: 'false', holds: () => false };
  const schema = withRules(z.string(), { ...no, sentence: 'one' }, { ...no, sentence: 'two' });

  expect(schema.safeParse('').error?.issues.map(({ message }) => message)).toEqual(['one', 'two']);
});
