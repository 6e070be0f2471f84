/**
 * The YAML blocks of public documents on control planes behind an ingress, as files of `snicket render -f`.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { publishedExamples, type PublishedExample } from './testing/published-examples.ts';
import { Terminal } from './testing/snicket.ts';

setDefaultTimeout(240_000);

const PAGE = join(import.meta.dir, '..', '..', 'docs/tasks/providers/published-examples.md');
const EXAMPLES = publishedExamples();

describe.each(Object.entries(Object.groupBy(EXAMPLES, ({ document }) => document)))(
  '%s',
  (_, examples = []) => {
    test.each(examples.map((example) => [example.block, example] as const))(
      '%s: render -f has the documented outcome',
      async (_, { objects, exitCode, codes }) => {
        using terminal = new Terminal();
        const files = objects.map((object) => stringify(object)).join('---\n');

        const rendered = await terminal.snicket(['render', '-f', '-'], files);

        expect({ exitCode: rendered.exitCode, codes: codesIn(rendered.stderr) }).toEqual({
          exitCode,
          codes: [...codes],
        });
      },
    );
  },
);

test('the page has the outcome of every example', () => {
  const page = readFileSync(PAGE, 'utf8');
  const [, ...rows] = /^\| document \| block .*\n((?:\|.*\n)+)/m.exec(page)?.[1]?.split('\n') ?? [];

  expect(rows.filter((row) => row !== '')).toEqual(EXAMPLES.map(rowOf));
});

function rowOf({ document, block, codes, outcome }: PublishedExample): string {
  const listed = codes.map((code) => `\`${code}\``).join(', ');
  return `| ${document} | ${block} | ${outcome} | ${listed} |`;
}

/** Returns the codes of errors and warnings, each once. */
function codesIn(stderr: string): readonly string[] {
  const found = stderr.matchAll(/^(?:error|warning): \S+: (?<code>[A-Za-z0-9]+): /gm);
  return [...new Set([...found].map(({ groups }) => groups?.['code'] ?? ''))].toSorted();
}
