import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deriveTenantSecret } from '../wire/tenant-key.ts';
import { snicket } from './testing/in-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'snicket-tenant-key-'));
const older = Buffer.alloc(32, 1);
const newer = Buffer.alloc(32, 2);
const keyFile = join(folder, 'master.key');
writeFileSync(keyFile, `# two\n${older.toString('hex')}\n${newer.toString('base64')}\n`);

afterAll(() => rmSync(folder, { recursive: true }));

async function tenantKey(...args: string[]) {
  return snicket(['tenant-key', ...args]);
}

test("prints the host's key of the newest master key", async () => {
  const { exitCode, stdout } = await tenantKey('--key-file', keyFile, 'A.k8s.test');

  const secret = Buffer.from(deriveTenantSecret(newer, 'a.k8s.test')).toString('base64');
  expect(stdout).toBe(`${secret}\n`);
  expect(exitCode).toBe(0);
});

test.each([
  ['no host', ['--key-file', keyFile], "missing required argument 'host'"],
  ['a host that is none', ['--key-file', keyFile, '10.0.0.1'], "'10.0.0.1' cannot be the host"],
  ['no file', ['a.k8s.test'], '--key-file <file>'],
  [
    'a file that is not there',
    ['--key-file', '/nowhere/key', 'a.k8s.test'],
    'error: cannot read --key-file /nowhere/key: ENOENT\nhint: pass the key file of the gateway, or create one: openssl rand -base64 32',
  ],
  [
    'an empty file name',
    ['--key-file', '', 'a.k8s.test'],
    'error: cannot read --key-file : EISDIR\nhint: pass the key file of the gateway, or create one: openssl rand -base64 32',
  ],
  ['a file without a key', ['--key-file', '/dev/null', 'a.k8s.test'], '/dev/null: no key'],
])('rejects %s', async (_, args, message) => {
  const { exitCode, stdout, stderr } = await tenantKey(...args);

  expect(stderr).toContain(message);
  expect(stdout).toBe('');
  expect(exitCode).toBe(2);
});
