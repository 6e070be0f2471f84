import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkKeyFile, checkRoutesFile } from './validate-files.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'snicket-validate-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function routes(text: string, maxRoutes?: number) {
  return checkRoutesFile(write('routes.yaml', text), 'routes.yaml', maxRoutes);
}

const route = (host: string, kind = 'api') =>
  `  - tenant: a\n    host: ${host}\n    kind: ${kind}\n    endpoints: []\n`;

test('counts the routes of a valid file', async () => {
  const check = await routes(`routes:\n${route('a.test')}${route('b.test')}`);

  expect(check).toEqual({ file: 'routes.yaml', count: 2, errors: [] });
});

test('reports one error per invalid route, with its position', async () => {
  const text = `routes:\n${route('a.test', 'apis')}${route('b.test')}${route('b.test')}`;

  const { errors } = await routes(text);

  expect(errors).toEqual([
    `routes.yaml:4:11: 'kind' is "apis"; write api or konnectivity`,
    'routes.yaml:11:11: host b.test is already used by another route; remove one of the two (see line 7)',
  ]);
});

test.each([
  ['text that is not YAML', 'routes: [', 'routes.yaml:1:'],
  ['an empty file', '', "routes.yaml:1:1: the file is empty; write 'routes: []' if there are none"],
  ['a file without routes', 'route: []', "routes.yaml:1:1: the file cannot have 'route'"],
  ['an alias', 'x: &x 1\nroutes: [*x]', "routes.yaml:2:10: '*x' is an alias"],
])('reports %s', async (_, text, start) => {
  const { errors } = await routes(text);

  expect(errors).toHaveLength(1);
  expect(errors[0]).toStartWith(start);
});

test('reports more routes than a gateway can have', async () => {
  const { errors } = await routes(`routes:\n${route('a.test')}${route('b.test')}`, 1);

  expect(errors).toEqual([
    'routes.yaml: 2 routes are more than 1; spread them over several gateways',
  ]);
});

test('reports a file that cannot be read', async () => {
  const missing = join(folder, 'missing');

  const { errors } = await checkRoutesFile(missing, 'missing');

  expect(errors[0]).toStartWith('missing: cannot be read (ENOENT');
  expect(checkKeyFile(missing, 'missing').errors[0]).toStartWith('missing: cannot be read (ENOENT');
});

test('counts the keys of a valid key file', () => {
  const key = Buffer.alloc(32, 1).toString('base64');

  expect(checkKeyFile(write('keys', `# current\n${key}\n`), 'keys')).toMatchObject({
    count: 1,
    errors: [],
  });
});

test('reports an invalid key with its line, and without its content', () => {
  const { errors } = checkKeyFile(write('keys', '\nsecret!\n'), 'keys');

  expect(errors).toHaveLength(1);
  expect(errors[0]).toStartWith('keys:2: ');
  expect(errors[0]).not.toContain('secret!');
});
