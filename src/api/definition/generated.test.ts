import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { definitionOf, KINDS } from './definition.ts';
import { generatedFiles } from './generated.ts';

const root = resolve(import.meta.dir, '../../..');

test.each([...generatedFiles()])('%s matches the output of `make generate`', (path, text) => {
  expect(readFileSync(join(root, path), 'utf8')).toBe(text);
});

test('deploy/crds contains no file that is not generated', () => {
  const paths = [...generatedFiles().keys()].filter((path) => path.startsWith('deploy/crds/'));

  const found = readdirSync(join(root, 'deploy/crds')).map((name) => `deploy/crds/${name}`);

  expect(found.toSorted()).toEqual(paths);
});

test('a definition parses the same as YAML 1.1, which kubectl uses', () => {
  for (const kind of KINDS) {
    const text = generatedFiles().get(`deploy/crds/${kind.resource.plural}.yaml`);

    expect(parse(text!, { version: '1.1' })).toEqual(
      JSON.parse(JSON.stringify(definitionOf(kind))),
    );
  }
});

test('the reference has a row for every field and every validation message', () => {
  const reference = generatedFiles().get('docs/reference/api.md')!;

  expect(reference).toContain(
    '| `spec.worker.port` | integer (1024 to 65535) | `7443` | port is the',
  );
  expect(reference).toContain('| `spec.worker.address` | `Virtual`, `Node` | `"Virtual"` |');
  expect(reference).toContain(
    '- `spec.hosts`: api and konnectivity must differ, since the edge routes',
  );
  expect(reference).toContain(
    '- `spec.hosts.api`: invalid host "VALUE": must be a lowercase DNS name',
  );
});
