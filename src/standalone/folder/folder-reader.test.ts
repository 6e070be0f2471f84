import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { edgeText } from '../testing/texts.ts';
import { faultText } from './fault.ts';
import { identityOf } from './file-objects.ts';
import { FolderReader } from './folder-reader.ts';

let folder: string;

beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'snicket-reader-'))));
afterEach(() => rmSync(folder, { recursive: true }));

function write(file: string, content: string | Uint8Array): void {
  writeFileSync(join(folder, file), content);
}

async function read() {
  const { objects, faults } = await new FolderReader(folder).read(new AbortController().signal);
  return {
    names: objects.map(({ object }) => identityOf(object)),
    faults: faults.map(faultText),
  };
}

const SECRET = `apiVersion: v1
kind: Secret
metadata: {name: blue-ca}
files: {tls.crt: pki/ca.crt}
`;

test.each([
  ['PEM', '-----BEGIN A KEY-----hunter2'],
  ['a token', 'eyJh.hunter2'],
  ['base64', `${'hunter2A'.repeat(9)}==`],
  ['base64 that is too long for a file name', 'hunter2A'.repeat(100)],
])('does not quote a value that is set instead of a path: %s', async (_, value) => {
  write('secret.yaml', SECRET.replace('pki/ca.crt', JSON.stringify(value)));

  const { faults } = await read();

  expect(faults[0]).toContain(
    ': files.tls.crt: no such file, and it looks like a value rather than a path;',
  );
  expect(JSON.stringify(faults)).not.toContain('hunter2');
});

test('reads a file whose name looks like a value', async () => {
  const name = 'A1b2'.repeat(16);
  write(name, 'x');
  write('secret.yaml', SECRET.replace('pki/ca.crt', name));

  expect(await read()).toMatchObject({ names: ['Secret default/blue-ca'], faults: [] });
});

describe('applies all other files despite', () => {
  test.each([
    ['a file that is a link to itself', 'loop.yaml', 'loop.yaml', 'cannot be read (ELOOP)'],
    ['a link to itself', 'loop', 'loop', 'loop: the link cannot be followed (ELOOP)'],
    [
      'a link that is too long',
      'long',
      'x'.repeat(300),
      'the link cannot be followed (ENAMETOOLONG)',
    ],
  ])('%s', async (_, name, target, fault) => {
    write('edge.yaml', edgeText('shared'));
    symlinkSync(target, join(folder, name));

    const { names, faults } = await read();

    expect(names).toEqual(['Edge shared']);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(fault);
  });

  test('a file name that is not UTF-8', async () => {
    write('edge.yaml', edgeText('shared'));
    const name = Buffer.concat([Buffer.from(join(folder, 'a')), Buffer.of(0xff)]);
    writeFileSync(Buffer.concat([name, Buffer.from('.yaml')]), edgeText('other'));

    expect(await read()).toEqual({
      names: ['Edge shared'],
      faults: ['a\ufffd.yaml: the file name is not valid UTF-8; rename the file'],
    });
  });

  test.each([
    ['a link to itself', '.loop/ca.crt', '.loop/ca.crt cannot be read (ELOOP)'],
    ['a path that is too long', `${'x'.repeat(300)}.crt`, 'cannot be read (ENAMETOOLONG)'],
    ['a path with a NUL in it', '"a\\0b"', 'not a path; set one'],
  ])('a Secret with %s', async (_, path, fault) => {
    write('edge.yaml', edgeText('shared'));
    write('secret.yaml', SECRET.replace('pki/ca.crt', path));
    symlinkSync('.loop', join(folder, '.loop'));

    const { names, faults } = await read();

    expect(names).toEqual(['Edge shared']);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(fault);
  });

  test('a Secret with many missing files, of which only the first is reported', async () => {
    write('edge.yaml', edgeText('shared'));
    const entries = Array.from({ length: 5_000 }, (_, index) => `e${index}: none/${index}`);
    write('secret.yaml', SECRET.replace('tls.crt: pki/ca.crt', entries.join(', ')));

    const { names, faults } = await read();

    expect(names).toEqual(['Edge shared']);
    expect(faults).toHaveLength(20);
  });

  test('a Secret with many large files, not all of which are read', async () => {
    write('edge.yaml', edgeText('shared'));
    write('large', new Uint8Array(1024 * 1024));
    const entries = Array.from(
      { length: 100 },
      (_, index) => `e${index}: ${'./'.repeat(index)}large`,
    );
    write('secret.yaml', SECRET.replace('tls.crt: pki/ca.crt', entries.join(', ')));

    const { names, faults } = await read();

    expect(names).toEqual(['Edge shared']);
    expect(faults).toEqual([
      'secret.yaml:1:1: Secret default/blue-ca: too large: a Secret has at most 1048576 bytes',
    ]);
  });

  test('a file that reports 0 bytes and contains more than fits into memory', async () => {
    write('edge.yaml', edgeText('shared'));
    symlinkSync('/proc/self/pagemap', join(folder, 'pagemap.yaml'));

    const { names, faults } = await read();

    expect(names).toEqual(['Edge shared']);
    expect(faults).toEqual([
      `pagemap.yaml: ${folder}/pagemap.yaml is too large: more than 3145728 bytes, at most 3145728`,
    ]);
  });

  test('a file whose Secrets exceed the limit for the files of all Secrets', async () => {
    write('large', new Uint8Array(1_000_000));
    const secrets = (name: string, count: number) =>
      Array.from({ length: count }, (_, index) =>
        SECRET.replace('blue-ca', `${name}-${index}`).replace('pki/ca.crt', 'large'),
      ).join('---\n');
    write('a.yaml', secrets('a', 1));
    write('b.yaml', secrets('b', 200));
    write('c.yaml', secrets('c', 1));

    const { names, faults } = await read();

    expect(names).toEqual(['Secret default/a-0', 'Secret default/c-0']);
    expect(faults).toEqual([
      `b.yaml:669:18: Secret default/b-133: files.tls.crt: the files of all Secrets exceed 134217728 bytes with ${folder}/large, which has 1000000 bytes; reference smaller or fewer files`,
    ]);
  });
});
