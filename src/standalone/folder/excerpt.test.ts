import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { excerptAt } from './excerpt.ts';

const EDGE = 'kind: Edge\nspec:\n  port: many\n';

test('shows the line with a caret below the value', () => {
  expect(excerptAt(EDGE, 3, 9)).toBe('3 |   port: many\n            ^');
});

test('has one column for a tab, and no control characters', () => {
  const text = 'kind: Edge\n\tport: \u001b[31mred\r\n';

  expect(excerptAt(text, 2, 8)).toBe(`2 |  port:  [31mred\n${' '.repeat(4 + 7)}^`);
});

test('shows nothing for a line that does not exist', () => {
  expect(excerptAt(EDGE, 9, 1)).toBeUndefined();
});

test('has the caret below its character wherever a line is truncated', () => {
  const lines = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 400 });

  fc.assert(
    fc.property(lines, fc.nat(), (line, at) => {
      const written = line.replaceAll(/kind/g, 'kund');
      const column = (at % written.length) + 1;

      const [shown = '', caret = ''] =
        excerptAt(`kind: Edge\n${written}\n`, 2, column)?.split('\n') ?? [];

      expect(shown[caret.indexOf('^')]).toBe(written[column - 1] ?? '');
      expect(shown.length).toBeLessThanOrEqual(4 + 102);
    }),
  );
});

describe('nothing is shown', () => {
  test.each([
    ['of a Secret', 'kind: Secret\nstringData:\n  key: hunter2\n', 3],
    [
      'of a List that contains a Secret',
      'items:\n- kind: Edge\n- kind: Secret\n  data: hunter2\n',
      4,
    ],
    ['of a kubeconfig', 'kind: Config\nusers: hunter2\n', 2],
    ['of an object without a kind', 'data:\n  key: hunter2\n', 2],
    ['of a Secret after an Edge', `${EDGE}---\nkind: Secret\ndata: hunter2\n`, 6],
    ['of a Secret without --- before it', 'kind: Edge\nspec: {}\nstringData:\n  a: hunter2\n', 4],
    ['of a misspelled kind', 'items:\n- kind: Edge\n- kind: secret\n  a: hunter2\n', 4],
    ['of an item without a kind', '- kind: Edge\n- {metadata: {}, stringData: {a: hunter2}}\n', 2],
    ['of a kubeconfig without a kind', 'kind: Edge\nusers:\n- {user: hunter2}\n', 3],
    ['of a Secret in JSON', '{"kind": "Secret",\n "data": {"key": "hunter2"}}', 2],
  ])('%s', (_, text, line) => {
    expect(text.split('\n')[line - 1]).toContain('hunter2');

    expect(excerptAt(text, line, 1)).toBeUndefined();
  });
});

test('shows an Edge that is in the same file as a Secret', () => {
  const text = `kind: Secret\ndata: {}\n---\n${EDGE}---\nkind: Secret\n`;

  expect(excerptAt(text, 6, 9)).toStartWith('6 |   port: many\n');
});
