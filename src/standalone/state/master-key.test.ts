import { afterEach, beforeEach, expect, test } from 'bun:test';
import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RESOURCES } from '../../kube/resource.ts';
import { createMemoryClient } from '../../kube/store/memory-client.ts';
import { ObjectStore } from '../../kube/store/object-store.ts';
import { GATEWAY_KEYS, readMasterKeys } from '../../management/master-keys.ts';
import { fileIn } from '../../operator/testing/objects.ts';
import { until } from '../../operator/testing/until.ts';
import { createLogger } from '../../telemetry/log.ts';
import { deriveTenantSecret } from '../../wire/tenant-key.ts';
import { ensureMasterKeyFile, shareMasterKeys } from './master-key.ts';

const NAMESPACE = 'snicket-system';
let message: string;
const log = createLogger({ level: 'debug', write: (line) => void (message += line) });
let state: string;

beforeEach(() => {
  message = '';
  state = mkdtempSync(join(tmpdir(), 'snicket-keys-'));
});
afterEach(() => rmSync(state, { recursive: true }));

function cluster() {
  const store = new ObjectStore({ historyLimit: 10 });
  const metadata = { name: NAMESPACE };
  store.restore(RESOURCES.namespace, { apiVersion: 'v1', kind: 'Namespace', metadata });
  const resources = Object.values(RESOURCES);
  return { store, client: createMemoryClient({ store, resources, name: 'test' }) };
}

test('creates a key once, readable only by its owner', () => {
  const path = ensureMasterKeyFile(state);
  const key = readFileSync(path, 'utf8');

  expect(ensureMasterKeyFile(state)).toBe(path);

  expect(readFileSync(path, 'utf8')).toBe(key);
  expect(Buffer.from(key, 'base64')).toHaveLength(32);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('rejects a file without a valid key, and does not replace it', () => {
  const path = join(state, 'master.key');
  writeFileSync(path, 'not a key\n', { mode: 0o600 });

  expect(() => ensureMasterKeyFile(state)).toThrow(`${path}:1: not a valid base64 or hex key`);
  expect(readFileSync(path, 'utf8')).toBe('not a key\n');
});

test('rejects anything but a regular file, without waiting for a writer', () => {
  const path = join(state, 'master.key');
  Bun.spawnSync(['mkfifo', path]);

  expect(() => ensureMasterKeyFile(state)).toThrow(`${path} is not a regular file`);
});

test('shares the key with the operator, and later a new one, but no invalid one', async () => {
  const { client, store } = cluster();
  const path = ensureMasterKeyFile(state);
  const stop = await shareMasterKeys(path, { client, namespace: NAMESPACE, log });
  const shared = () =>
    fileIn(
      store.get(RESOURCES.secret, { name: GATEWAY_KEYS.name, namespace: NAMESPACE }),
      GATEWAY_KEYS.entry,
    );
  expect(shared()).toBe(readFileSync(path, 'utf8'));

  const next = Buffer.alloc(32, 7);
  appendFileSync(path, `${next.toString('base64')}\n`);
  await until('the new key is shared', () => shared() === readFileSync(path, 'utf8'));

  const { signal } = new AbortController();
  const keys = await readMasterKeys(client, NAMESPACE, signal);
  expect(keys?.tenantKey('a.test')).toBe(
    Buffer.from(deriveTenantSecret(next, 'a.test')).toString('base64'),
  );
  const good = shared();
  writeFileSync(path, 'broken\n');
  await until('it is seen', () => message.includes('not a valid base64 or hex key'));
  expect(shared()).toBe(good);
  stop();
});
