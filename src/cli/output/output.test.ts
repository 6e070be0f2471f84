import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { fittingTableText, stateCell, tableText, valueText, type Cell } from './output.ts';

const HEADINGS = ['EXPOSURE', 'HOST', 'STATE'];
const ROWS: readonly (readonly Cell[])[] = [
  ['tenants/blue', 'tenants-blue.k8s.example.com', { text: 'ok', color: 'green' }],
  ['tenants/magenta', 'm.example.com', { text: 'missing', color: 'red' }],
];

const TABLE = `EXPOSURE         HOST                          STATE
tenants/blue     tenants-blue.k8s.example.com  ok
tenants/magenta  m.example.com                 missing
`;

describe('a table', () => {
  test('has its full width and no colors without a terminal', () => {
    expect(tableText(HEADINGS, ROWS, { hasColors: false })).toBe(TABLE);
  });

  test('shows states with marks in color, and as plain args otherwise', () => {
    const rows = [
      [stateCell('Pass', 'pass'), 'a'],
      [stateCell('Skip', 'skip'), 'b'],
    ];

    expect(tableText(['STATE', 'X'], rows, { hasColors: false })).toBe(
      'STATE  X\nPass   a\nSkip   b\n',
    );
    expect(tableText(['STATE', 'X'], rows, { hasColors: true })).toBe(
      'STATE   X\n\u001B[32m✓ Pass\u001B[0m  a\n- Skip  b\n',
    );
  });

  test('keeps its columns aligned with colors', () => {
    const text = tableText(HEADINGS, ROWS, { columns: 120, hasColors: true });

    expect(text).toContain('\u001B[32mok\u001B[0m\n');
    expect(Bun.stripANSI(text)).toBe(TABLE);
  });

  test.each([54, 80, 120])('fits into %d columns', (columns) => {
    expect(tableText(HEADINGS, ROWS, { columns, hasColors: false })).toBe(TABLE);
  });

  test('becomes a block for each row on a narrow terminal', () => {
    expect(tableText(HEADINGS, ROWS, { columns: 53, hasColors: false })).toBe(
      `EXPOSURE  tenants/blue
HOST      tenants-blue.k8s.example.com
STATE     ok

EXPOSURE  tenants/magenta
HOST      m.example.com
STATE     missing
`,
    );
  });

  const SENTENCE = 'x.example.com leads to 203.0.113.7; correct the record, or spec.addresses';
  const WITH_SENTENCES: readonly (readonly Cell[])[] = [
    ['dns', { text: SENTENCE, color: 'red' }],
    ['sni', 'a tenant answered'],
  ];

  test('wraps a long last column, and colors each line', () => {
    const text = tableText(['HOP', 'WHAT'], WITH_SENTENCES, { columns: 40, hasColors: true });

    expect(text).toContain(
      '203.0.113.7;\u001B[0m\n     \u001B[31mcorrect the record, or\u001B[0m\n',
    );
    expect(Bun.stripANSI(text)).toBe(`HOP  WHAT
dns  x.example.com leads to 203.0.113.7;
     correct the record, or
     spec.addresses
sni  a tenant answered
`);
  });

  test('becomes blocks if the last column would be too narrow', () => {
    expect(tableText(['HOP', 'WHAT'], WITH_SENTENCES, { columns: 28, hasColors: false })).toBe(
      `HOP   dns
WHAT  x.example.com leads to
      203.0.113.7; correct
      the record, or
      spec.addresses

HOP   sni
WHAT  a tenant answered
`,
    );
  });

  test('does not break long words', () => {
    const name = `${'a'.repeat(60)}.example.com`;

    expect(tableText(['HOST'], [[name]], { columns: 40, hasColors: false })).toBe(
      `HOST  ${name}\n`,
    );
  });

  test('measures columns, not characters', () => {
    const rows = [
      ['漢字', 'a'],
      ['abcde', 'b'],
    ];

    expect(tableText(['A', 'B'], rows, { hasColors: false })).toBe(
      'A      B\n漢字   a\nabcde  b\n',
    );
  });

  test('removes characters that move the cursor', () => {
    const rows = [['\u001B[2Jgone\r\nfar', 'b']];

    expect(tableText(['A', 'B'], rows, { hasColors: true })).toBe(
      'A             B\n [2Jgone far  b\n',
    );
  });

  test('fits the terminal, except for single words that do not fit', () => {
    const word = fc.stringMatching(/^[a-z.]{1,20}$/);
    const cell = fc.array(word, { minLength: 1, maxLength: 12 }).map((args) => args.join(' '));
    const row = fc.tuple(word, word, cell);

    fc.assert(
      fc.property(
        fc.array(row, { maxLength: 6 }),
        fc.integer({ min: 40, max: 120 }),
        (rows, columns) => {
          const text = tableText(['NAME', 'STATE', 'WHAT'], rows, { columns, hasColors: false });

          const lines = text.split('\n');
          expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(columns);
          const args = text.split(/\s+/);
          for (const one of rows.flat().flatMap((all) => all.split(' ')))
            expect(args).toContain(one);
        },
      ),
    );
  });
});

test('a fitting table drops spare columns in order before it becomes blocks', () => {
  const spare = ['HOST', 'STATE'];
  const at = (columns: number) =>
    fittingTableText(HEADINGS, ROWS, { columns, hasColors: false }, spare).split('\n')[0];

  expect(at(54)).toBe('EXPOSURE         HOST                          STATE');
  expect(at(53)).toBe('EXPOSURE         STATE');
  expect(at(23)).toBe('EXPOSURE');
  // Nothing makes it fit: all columns, in blocks.
  expect(at(14)).toBe('EXPOSURE  tenants/blue');
});

test('prints values as JSON, or as YAML that kubectl reads', () => {
  expect(valueText({ a: ['yes'] }, 'json')).toBe('{\n  "a": [\n    "yes"\n  ]\n}\n');
  expect(valueText({ a: ['yes'] }, 'yaml')).toBe('a:\n  - "yes"\n');
});
