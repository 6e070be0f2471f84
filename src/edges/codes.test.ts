import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DRIVERS } from '../api/edge.ts';
import { EDGE_FINDINGS } from '../api/finding-codes/edge.ts';
import { driverFor } from './driver-for.ts';

function page(name: string): string {
  return readFileSync(join(import.meta.dir, '../../docs/tasks/edges', fileOf(name)), 'utf8');
}

function fileOf(name: string): string {
  return `${name === 'README' ? name : name.toLowerCase()}.md`;
}

const OVERVIEW = page('README');

test.each(Object.entries(EDGE_FINDINGS))(
  '%s is documented, with its meaning',
  (code, { meaning }) => {
    expect(OVERVIEW).toContain(`| \`${code}\` | ${meaning} |`);
  },
);

describe.each(DRIVERS)('driver %s', (name) => {
  const { pitfalls, requires } = driverFor(name);

  test('has its own name, and a page that the overview links to', () => {
    expect(driverFor(name).name).toBe(name);
    expect(OVERVIEW).toContain(`[\`${name}\`](${fileOf(name)})`);
    expect(page(name)).toStartWith(`# Driver \`${name}\``);
    for (const { kind } of requires) expect(page(name)).toContain(kind);
  });

  test('has pitfalls in full sentences', () => {
    for (const { severity, message, action } of pitfalls) {
      expect(severity).toBe('warning');
      expect(message).toMatch(/^\w.*\.$/);
      expect(action).toMatch(/^[A-Z].*\.$/);
    }
  });

  test('has the codes of its pitfalls on its page', () => {
    for (const { code } of pitfalls) expect(page(name)).toContain(code);
  });
});
