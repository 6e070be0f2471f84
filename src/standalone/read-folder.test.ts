import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { objectText } from '../kube/object.ts';
import { faultText } from './folder/fault.ts';
import { FolderReader } from './folder/folder-reader.ts';
import { readFolder } from './read-folder.ts';
import { edgeText, exposureText } from './testing/texts.ts';

const { signal } = new AbortController();
let folder: string;

beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'snicket-folder-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(file: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), content);
}

async function read() {
  const { objects, faults } = await readFolder(folder, signal);
  return { objects, names: objects.map(objectText), faults: faults.map(faultText) };
}

const SECRET = `apiVersion: v1
kind: Secret
metadata: {name: blue-ca}
files: {tls.crt: pki/ca.crt}
`;

test('reads YAML and JSON files at any depth, and no hidden or other files', async () => {
  write('edge.yml', edgeText('shared'));
  write('tenants/a/blue.yaml', exposureText('blue'));
  write('tenants/red.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [] }));
  write('.edge.yaml.swp', 'no');
  write('..2026/edge.yaml', edgeText('hidden'));
  write('edge.yaml~', 'no');
  write('README.md', 'no');

  expect(await read()).toMatchObject({
    names: ['Edge shared', 'Exposure default/blue'],
    faults: [],
  });
});

test('applies the first of two files with the same object, and reports the second', async () => {
  write('b.yaml', `${edgeText('other')}---\n${edgeText('shared')}`);
  write('a.yaml', edgeText('shared', 'a.example.com'));

  const { objects, names, faults } = await read();

  expect(names).toEqual(['Edge shared', 'Edge other']);
  expect(objects[0]).toMatchObject({ spec: { domain: 'a.example.com' } });
  expect(faults).toEqual([
    'b.yaml:9:1: Edge shared is already defined at a.yaml:1:1, which is applied; remove one of them',
  ]);
});

describe('a Secret', () => {
  test('has the contents of its files, with paths relative to its own file', async () => {
    write('tenants/secret.yaml', SECRET);
    write('tenants/pki/ca.crt', 'a certificate');

    const { objects, faults } = await read();

    expect(faults).toEqual([]);
    expect(objects[0]).toMatchObject({ data: { 'tls.crt': btoa('a certificate') } });
  });

  test('may have binary values, and files anywhere', async () => {
    const other = mkdtempSync(join(tmpdir(), 'snicket-pki-'));
    writeFileSync(join(other, 'ca.crt'), Uint8Array.of(0, 255, 10));
    write('secret.yaml', SECRET.replace('pki/ca.crt', join(other, 'ca.crt')));

    const { objects } = await read();

    expect(objects[0]).toMatchObject({ data: { 'tls.crt': 'AP8K' } });
    rmSync(other, { recursive: true });
  });

  test('with a missing file is a fault', async () => {
    write('secret.yaml', SECRET);

    const { names, faults } = await read();

    expect(names).toEqual([]);
    expect(faults).toEqual([
      `secret.yaml:4:18: Secret default/blue-ca: files.tls.crt: file not found: ${folder}/pki/ca.crt; create it, or correct the path`,
    ]);
  });

  test('is re-read when an old file changes and keeps its size', async () => {
    write('secret.yaml', SECRET);
    write('pki/ca.crt', 'old');
    const longAgo = new Date(Date.now() - 3_600_000);
    utimesSync(join(folder, 'pki/ca.crt'), longAgo, longAgo);
    const reader = new FolderReader(folder);
    await reader.read(signal);

    write('pki/ca.crt', 'new');
    utimesSync(join(folder, 'pki/ca.crt'), longAgo, longAgo);
    const { objects } = await reader.read(signal);

    expect(objects[0]?.object).toMatchObject({ data: { 'tls.crt': btoa('new') } });
  });

  test('is re-read when its file changes, even if its own YAML does not', async () => {
    write('secret.yaml', SECRET);
    write('pki/ca.crt', 'old');
    const reader = new FolderReader(folder);
    await reader.read(signal);

    write('pki/ca.crt', 'new');
    const { objects, directories } = await reader.read(signal);

    expect(objects[0]?.object).toMatchObject({ data: { 'tls.crt': btoa('new') } });
    expect(directories).toContain(join(folder, 'pki'));
  });
});

test('a single fault makes the content of its whole file unknown', async () => {
  write('a.yaml', `${edgeText('shared')}---\n${edgeText('other').replace('snicket\n', 'nginx\n')}`);
  write('b.yaml', exposureText('blue'));

  const { objects, unknown, files } = await new FolderReader(folder).read(signal);

  expect(objects.map(({ file }) => file)).toEqual(['b.yaml']);
  expect({ unknown, files }).toEqual({ unknown: ['a.yaml'], files: ['a.yaml', 'b.yaml'] });
});

describe('an unreadable file is reported, and the others are read:', () => {
  test('a binary file', async () => {
    write('a.yaml', Uint8Array.of(0xff, 0xfe, 0));
    write('b.yaml', edgeText('shared'));

    expect(await read()).toMatchObject({
      names: ['Edge shared'],
      faults: ['a.yaml: not valid UTF-8; save the file as UTF-8'],
    });
  });

  test('a pipe and a broken link', async () => {
    Bun.spawnSync(['mkfifo', join(folder, 'a.yaml')]);
    symlinkSync('nowhere', join(folder, 'b.yaml'));

    expect((await read()).faults).toEqual([
      `a.yaml: ${folder}/a.yaml is not a regular file`,
      `b.yaml: ${folder}/b.yaml is a broken symbolic link`,
    ]);
  });

  test('a file that is too large', async () => {
    write('a.yaml', Buffer.alloc(4 * 1024 * 1024, '#'));

    expect((await read()).faults[0]).toMatch(
      /^a\.yaml: .* is too large: 4194304 bytes, at most \d+$/,
    );
  });

  test('YAML with thousands of levels, and with a million aliases', async () => {
    const bomb = ['a: &a [x,x,x,x,x,x,x,x,x,x]'];
    for (const [at, name] of 'bcdefgh'.split('').entries()) {
      const last = 'abcdefgh'[at];
      bomb.push(`${name}: &${name} [${Array.from({ length: 10 }, () => `*${last}`).join()}]`);
    }
    write('a.yaml', '['.repeat(20_000));
    write('b.yaml', bomb.join('\n'));

    const { faults } = await read();

    expect(faults.map((text) => text.slice(0, 7))).toEqual(['a.yaml:', 'b.yaml:']);
  }, 240_000);

  // Root can read everything.
  test.skipIf(process.getuid?.() === 0)('a subfolder', async () => {
    write('closed/a.yaml', edgeText('shared'));
    chmodSync(join(folder, 'closed'), 0);

    const { unknown, faults } = await new FolderReader(folder).read(signal);

    chmodSync(join(folder, 'closed'), 0o700);
    expect(unknown).toEqual(['closed']);
    expect(faultText(faults[0]!)).toBe('closed: the folder cannot be read (EACCES)');
  });
});

test('follows links, but no loops', async () => {
  write('real/a.yaml', edgeText('shared'));
  mkdirSync(join(folder, 'links'));
  symlinkSync('../real/a.yaml', join(folder, 'links', 'b.yaml'));
  symlinkSync('..', join(folder, 'links', 'up'));

  const { names, faults } = await read();

  expect(names).toEqual(['Edge shared']);
  expect(faults).toEqual([
    'real/a.yaml:1:1: Edge shared is already defined at links/b.yaml:1:1, which is applied; remove one of them',
  ]);
});

test('throws if the folder does not exist', async () => {
  const missing = join(folder, 'missing');

  await expect(readFolder(missing, signal)).rejects.toMatchObject({
    name: 'FolderUnreadable',
    message: `the folder ${missing} cannot be read (ENOENT)`,
  });
});
