import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestApiServer } from '../../kube/testing/api-server.ts';
import { objectOf } from '../../operator/testing/objects.ts';
import { until } from '../../operator/testing/until.ts';
import { writeKubeconfig } from '../../pki/kubeconfig.ts';
import {
  COMPLETION_TIMEOUT_MS,
  edgeNames,
  exposureKeys,
  type FlagValues,
} from './exposure-names.ts';
import { TestIo } from '../testing/test-io.ts';

setDefaultTimeout(240_000);

let server: TestApiServer;
let folder: string;
let flags: FlagValues;

beforeAll(async () => {
  server = await TestApiServer.start();
  server.seed(objectOf('Namespace', { name: 'tenants' }));
  server.seed(objectOf('Exposure', { name: 'blue', namespace: 'tenants' }, { spec: {} }));
  server.seed(objectOf('Edge', { name: 'shared' }, { spec: {} }));
  folder = mkdtempSync(join(tmpdir(), 'snicket-names-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const { credentials, server: url } = server.access;
  if (credentials.kind !== 'token') throw new Error('expected token credentials');
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

const reads = [
  ['exposures', exposureKeys, undefined],
  ['edges', edgeNames, []],
] as const;

test('returns the names of Exposures and Edges', async () => {
  expect(await exposureKeys(new TestIo(), flags)).toMatchObject({
    keys: [{ name: 'blue', namespace: 'tenants' }],
  });
  expect(await edgeNames(new TestIo(), flags)).toEqual(['shared']);
});

test.each(reads)(
  'returns %s only if the list request ends within the timeout',
  async (plural, read, empty) => {
    server.inject({ kind: 'hang' }, { verb: 'list', plural }, 2);
    const before = server.requests().length;
    let isPendingDone = false;
    const pending = read(new TestIo(), flags).finally(() => (isPendingDone = true));
    const io = new TestIo();
    const timedOut = read(io, flags);
    await until('both requests arrived', () => server.requests().length === before + 2);

    io.clock.advance(COMPLETION_TIMEOUT_MS);

    expect(await timedOut).toEqual(empty);

    expect(isPendingDone).toBe(false);
    server.resetConnections();
    await pending;
  },
);
