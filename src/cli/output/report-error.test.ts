import { expect, setDefaultTimeout, test } from 'bun:test';
import { createClient } from '../../kube/client/fetch-client.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { TestApiServer } from '../../kube/testing/api-server.ts';
import { TestIo } from '../testing/test-io.ts';
import { CommandError, EXIT } from './messages.ts';
import { reportError } from './report-error.ts';

setDefaultTimeout(240_000);

test('reports that the cluster did not answer within the time limit', async () => {
  await using server = await TestApiServer.start();
  server.inject({ kind: 'hang' }, { verb: 'list', plural: 'exposures' });
  const client = createClient(server.access);
  const io = new TestIo();

  try {
    await client.list(RESOURCES.exposure, { signal: AbortSignal.timeout(50) });
  } catch (error) {
    reportError(io, error);
  }

  expect(io.stderr.text).toMatch(
    /^error: the management cluster did not answer within 60s: GET \S+ at \S+: canceled by the caller\nhint: check why its API server is slow, and try again\n$/,
  );
  expect(io.exitCode).toBe(EXIT.failed);
});

test('names the management cluster in an error of the connection to it', async () => {
  await using server = await TestApiServer.start();
  const client = createClient({ ...server.access, server: 'https://127.0.0.1:1' });
  const io = new TestIo();

  try {
    await client.list(RESOURCES.exposure);
  } catch (error) {
    reportError(io, error);
  }

  expect(io.stderr.text).toStartWith('error: cannot connect to the management cluster: GET /');
  expect(io.stderr.text).toContain('\nhint: check that the API server is running');
  expect(io.exitCode).toBe(EXIT.failed);
});

test('prints the message and the hint of a command error, and sets its exit code', () => {
  const io = new TestIo();

  reportError(io, new CommandError('file not found: a.yaml', 'create it', EXIT.wrong));

  expect(io.stderr.text).toBe('error: file not found: a.yaml\nhint: create it\n');
  expect(io.exitCode).toBe(EXIT.wrong);
});

test('rethrows an error of the program', () => {
  const bug = new TypeError('undefined is not a function');

  expect(() => reportError(new TestIo(), bug)).toThrow(bug);
});
