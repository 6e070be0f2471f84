import { expect, setDefaultTimeout, test } from 'bun:test';
import { createClient } from '../../kube/client/fetch-client.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { TestApiServer } from '../../kube/testing/api-server.ts';
import { EXIT, withErrorReporting, planText } from './plans.ts';
import { TestIo } from '../testing/test-io.ts';

setDefaultTimeout(240_000);

test('a reading that takes too long ends in a sentence and an exit code', async () => {
  await using server = await TestApiServer.start();
  server.inject({ kind: 'hang' }, { verb: 'list', plural: 'exposures' });
  const client = createClient(server.access);
  const io = new TestIo();

  await withErrorReporting(io, async () => {
    await client.list(RESOURCES.exposure, { signal: AbortSignal.timeout(50) });
  });

  expect(io.stderr.text).toMatch(
    /^error: the management cluster did not answer within 60s: GET \S+ at \S+: canceled by the caller\nhint: check why its API server is slow, and try again\n$/,
  );
  expect(io.exitCode).toBe(EXIT.failed);
});

test('a name with the end of a line in it stays within its comment', () => {
  const metadata = { name: 'blue\nkind: Secret', namespace: 'tenants' };
  const object = { apiVersion: 'snicket.dev/v1alpha1', kind: 'Exposure', metadata };

  const text = planText({ object, findings: [] });

  expect(text).toBe('# Exposure tenants/blue\\u000akind: Secret has no plan\n');
});
