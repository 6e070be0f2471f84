import { describe, expect, test } from 'bun:test';
import { tableText, valueText, type Cell } from './output.ts';

const HEADINGS = ['EXPOSURE', 'HOST', 'STATE'];
const ROWS: readonly (readonly Cell[])[] = [
  ['tenants/blue', 'tenants-blue.k8s.example.com', { text: 'ok', colour: 'green' }],
  ['tenants/magenta', 'm.example.com', { text: 'missing', colour: 'red' }],
];

const TABLE = `EXPOSURE         HOST                          STATE
tenants/blue     tenants-blue.k8s.example.com  ok
tenants/magenta  m.example.com                 missing
`;

describe('a table', () => {
  test('is as wide as it is where there is no terminal, and has no colours', () => {
    expect(tableText(HEADINGS, ROWS, { hasColours: false })).toBe(TABLE);
  });

  test('has colours that do not move its columns', () => {
    const text = tableText(HEADINGS, ROWS, { columns: 120, hasColours: true });

    expect(text).toContain('\u001B[32mok\u001B[0m\n');
    expect(Bun.stripANSI(text)).toBe(TABLE);
  });

  test.each([54, 80, 120])('fits into %d columns', (columns) => {
    expect(tableText(HEADINGS, ROWS, { columns, hasColours: false })).toBe(TABLE);
  });

  test('is a block for each row where the terminal is too narrow', () => {
    expect(tableText(HEADINGS, ROWS, { columns: 53, hasColours: false })).toBe(
      `EXPOSURE  tenants/blue
HOST      tenants-blue.k8s.example.com
STATE     ok

EXPOSURE  tenants/magenta
HOST      m.example.com
STATE     missing
`,
    );
  });
});

test('values are JSON, or YAML as kubectl reads it', () => {
  expect(valueText({ a: ['yes'] }, 'json')).toBe('{\n  "a": [\n    "yes"\n  ]\n}\n');
  expect(valueText({ a: ['yes'] }, 'yaml')).toBe('a:\n  - "yes"\n');
});
