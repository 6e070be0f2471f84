import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { createClient } from '../../kube/client/fetch-client.ts';
import { RESOURCES } from '../../kube/resource.ts';
import { TestApiServer } from '../../kube/testing/api-server.ts';
import { objectOf } from '../../operator/testing/objects.ts';
import { Terminal } from '../testing/snicket.ts';

setDefaultTimeout(60_000);

let server: TestApiServer;
let terminal: Terminal;
beforeAll(async () => {
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    plural: 'selfsubjectaccessreviews',
    namespaced: false,
  };
  server = await TestApiServer.start({ resources: [...Object.values(RESOURCES), review] });
  const key = { name: 'haproxy', namespace: 'ingress' };
  server.seed(
    objectOf('Namespace', { name: 'ingress' }),
    objectOf('Service', key, { spec: { type: 'LoadBalancer', ports: [{ port: 443 }] } }),
  );
  const status = { loadBalancer: { ingress: [{ ip: '203.0.113.10' }] } };
  const options = { subresource: 'status' } as const;
  await createClient(server.access).patch(RESOURCES.service, key, 'merge', { status }, options);
  terminal = new Terminal(server);
});
afterAll(async () => {
  terminal[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

test('--pre prints a table of checks and findings', async () => {
  const { stdout, stderr } = await terminal.snicket(['doctor', '--pre']);

  expect(stderr).toBe('');
  expect(stdout).toMatch(
    /^CHECK +RESULT +CODE +FOUND\nkubernetes +Pass +Passed +the API server is v/,
  );
  expect(stdout).toMatch(
    /^load-balancer +Pass +Passed +found Service ingress\/haproxy \(203\.0\.113\.10\)$/m,
  );
  expect(stdout).toMatch(
    /^permissions +Pass +Passed +the user is allowed to create all objects that Snicket installs$/m,
  );
  expect(stdout).toMatch(/\n1 cluster: \d Fail, \d Warn, \d Pass, 0 Skip\n$/);
});

test('--pre prints the same checks as JSON', async () => {
  const { exitCode, stdout } = await terminal.snicket(['doctor', '--pre', '-o', 'json']);

  const value = JSON.parse(stdout) as { tally: { fail: number }; checks: { check: string }[] };
  expect(value.checks.map(({ check }) => check)).toEqual([
    ...['kubernetes', 'apis', 'permissions', 'crds'],
    ...['edges', 'load-balancer', 'providers'],
  ]);
  expect(exitCode).toBe(value.tally.fail > 0 ? 1 : 0);
});

test('--pre warns of what the user is not allowed to list', async () => {
  const refused = { kind: 'error', status: 403, reason: 'Forbidden' } as const;
  const plurals = ['customresourcedefinitions', 'services'];
  for (const plural of plurals) server.inject(refused, { plural, verb: 'list' }, 100);

  const { stdout } = await terminal.snicket(['doctor', '--pre']);

  server.clearFaults();
  expect(stdout).toMatch(
    /^crds +Warn +PermissionMissing +the current user is not allowed to list customresourcedefinitions/m,
  );
  expect(stdout).toMatch(/^load-balancer +Warn +PermissionMissing /m);
});

test.each([
  [['blue'], 'error: --pre accepts no names\nhint: remove them\n'],
  [
    ['--from-worker'],
    'error: --from-worker cannot be combined with --pre\nhint: remove --from-worker\n',
  ],
  [
    ['-A'],
    'error: --all-namespaces cannot be combined with --pre\nhint: remove --all-namespaces\n',
  ],
])('--pre cannot be combined with %j', async (args, message) => {
  const { exitCode, stderr } = await terminal.snicket(['doctor', '--pre', ...args]);

  expect(stderr).toBe(message);
  expect(exitCode).toBe(2);
});
