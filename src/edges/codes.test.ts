import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DRIVERS } from '../api/edge.ts';
import { EDGE_FINDINGS } from '../api/finding-codes/edge.ts';
import { driverFor } from './driver-for.ts';

const DOCUMENT = readFileSync(join(import.meta.dir, '../../docs/tasks/edges.md'), 'utf8');

test.each(Object.entries(EDGE_FINDINGS))(
  '%s is documented, with its meaning',
  (code, { meaning }) => {
    expect(DOCUMENT).toContain(`| \`${code}\` | ${meaning} |`);
  },
);

describe.each(DRIVERS)('driver %s', (name) => {
  const { pitfalls, requires } = driverFor(name);

  test('has its own name, and a section in the document', () => {
    expect(driverFor(name).name).toBe(name);
    expect(DOCUMENT).toContain(`\n## \`${name}\``);
    for (const { kind } of requires) expect(DOCUMENT).toContain(kind);
  });

  test('has pitfalls in full sentences', () => {
    for (const { severity, message, action } of pitfalls) {
      expect(severity).toBe('warning');
      expect(message).toMatch(/^\w.*\.$/);
      expect(action).toMatch(/^[A-Z].*\.$/);
    }
  });

  test('has the codes of its pitfalls in its section of the document', () => {
    const place = DOCUMENT.split('\n## ').find((text) => text.startsWith(`\`${name}\``));

    for (const { code } of pitfalls) expect(place).toContain(code);
  });
});
