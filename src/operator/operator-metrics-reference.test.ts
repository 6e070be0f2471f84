import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorLab } from './testing/operator-lab.ts';

const REFERENCE = join(import.meta.dir, '../../docs/reference/metrics.md');

test('docs/reference/metrics.md lists every metric of the operator with its help text', async () => {
  await using lab = await OperatorLab.start();
  const page = lab.operator.metrics.text();
  const typeOf = (name: string) => new RegExp(`^# TYPE ${name} (\\w+)$`, 'm').exec(page)?.[1];
  const families = [...page.matchAll(/^# HELP (snicket_operator_\w+) (.*)$/gm)];

  const rows = families.map(([, name = '', help]) => `| \`${name}\` | ${typeOf(name)} | ${help} |`);

  const written = readFileSync(REFERENCE, 'utf8').split('\n');
  const documented = written
    .filter((line) => /^\| `snicket_operator_\w+` \|/.test(line))
    // The column of labels is not compared: not every label is on the page from the start.
    .map((line) => line.replace(/^(\|[^|]*\|[^|]*)\|[^|]*(\|.*)$/, '$1$2'));
  expect(documented).toEqual(rows);
});
