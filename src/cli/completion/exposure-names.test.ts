import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestApiServer } from '../../kube/testing/api-server.ts';
import { objectOf } from '../../operator/testing/objects.ts';
import { until } from '../../operator/testing/until.ts';
import { writeKubeconfig } from '../../pki/kubeconfig.ts';
import { ANSWER_TIMEOUT_MS, edgeNames, exposureKeys, type FlagTexts } from './exposure-names.ts';
import { TestIo } from '../testing/test-io.ts';

setDefaultTimeout(240_000);

let server: TestApiServer;
let folder: string;
let flags: FlagTexts;

beforeAll(async () => {
  server = await TestApiServer.start();
  server.seed(objectOf('Namespace', { name: 'tenants' }));
  server.seed(objectOf('Exposure', { name: 'blue', namespace: 'tenants' }, { spec: {} }));
  server.seed(objectOf('Edge', { name: 'shared' }, { spec: {} }));
  folder = mkdtempSync(join(tmpdir(), 'snicket-names-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const { credentials, server: url } = server.access;
  if (credentials.kind !== 'token') throw new Error('the server knows its callers by tokens');
  writeFileSync(
    kubeconfig,
    writeKubeconfig({
      server: url,
      ca: server.ca,
      credentials,
      names: { cluster: 'here', user: 'me' },
    }),
  );
  flags = new Map([['--kubeconfig', kubeconfig]]);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server[Symbol.asyncDispose]();
});

const asks = [
  ['exposures', exposureKeys, undefined],
  ['edges', edgeNames, []],
] as const;

test('gives the names of a cluster that answers', async () => {
  expect(await exposureKeys(new TestIo(), flags)).toMatchObject({
    keys: [{ name: 'blue', namespace: 'tenants' }],
  });
  expect(await edgeNames(new TestIo(), flags)).toEqual(['shared']);
});

test.each(asks)('waits for %s as long as it is told, and no longer', async (plural, ask, none) => {
  server.inject({ kind: 'hang' }, { verb: 'list', plural }, 2);
  const before = server.requests().length;
  let isAnswered = false;
  const patient = ask(new TestIo(), flags).finally(() => (isAnswered = true));
  const io = new TestIo();
  const asking = ask(io, flags);
  await until('both are asked', () => server.requests().length === before + 2);

  io.clock.advance(ANSWER_TIMEOUT_MS);

  expect(await asking).toEqual(none);

  expect(isAnswered).toBe(false);
  server.resetConnections();
  await patient;
});
