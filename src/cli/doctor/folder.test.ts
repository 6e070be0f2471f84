import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { RunLab } from '../../standalone/testing/run-lab.ts';
import { Terminal } from '../testing/snicket.ts';

setDefaultTimeout(240_000);

/** In its folder, the kubeconfig of tenant `red` has the host of the edge with the port of the API server itself. */
let lab: RunLab;
let terminal: Terminal;
beforeAll(async () => {
  lab = new RunLab();
  terminal = new Terminal();
  const blue = await lab.addTenant('blue');
  await blue.controllers.addNode('worker-1', ['10.0.0.1']);
  const { kubeconfig, port } = await lab.addTenant('red');
  const server = `server: https://tenants-red.k8s.example.test:${port}`;
  expect(kubeconfig).toMatch(/server: .+/);
  lab.write('red/admin.conf', kubeconfig.replace(/server: .+/, server));
  await lab.start();
  await lab.untilCondition('blue', 'WorkersReady', /^True ProxiesReady/);
  await lab.untilCondition('red', 'WorkersReady', /^True/);
});
afterAll(async () => {
  terminal[Symbol.dispose]();
  await lab[Symbol.asyncDispose]();
});

test('checks the folder of `snicket run` like a management cluster', async () => {
  const args = ['doctor', '-f', lab.folder, 'tenants/blue'];

  const { exitCode, stdout, stderr } = await terminal.snicket(args);

  expect(stderr).toBe('');
  expect(stdout).toStartWith(
    `tenants/blue  tenants-blue.k8s.example.test:${lab.port}  Edge shared (snicket, Passthrough)\n`,
  );
  // No DNS server knows the hosts of the lab.
  expect(stdout).toMatch(/^ {2}dns +Fail +Dns/m);
  for (const hop of [
    ...['edge +Pass +Passed', 'sni +Pass +Passed', 'api +Pass +Passed'],
    ...['endpoints +Pass +Passed', 'proxies +Pass +ProxiesReady'],
  ]) {
    expect(stdout).toMatch(new RegExp(`^ {2}${hop}`, 'm'));
  }
  expect(stdout).toEndWith('\n1 Exposure: 1 Fail, 0 Warn, 6 Pass, 2 Skip\n');
  expect(exitCode).toBe(1);
});

test('skips a kubeconfig with the host of the edge and the port of the API server', async () => {
  const { stdout } = await terminal.snicket(['doctor', '-f', lab.folder, 'tenants/red']);

  expect(stdout).toMatch(/^ {2}kubeconfig +Skip/m);
});

test('names the location of an invalid file, and checks the others', async () => {
  await using other = new RunLab();
  await other.addTenant('blue');
  other.write('red.yaml', 'kind: Exposure\n');

  const args = ['doctor', '-f', other.folder, 'tenants/blue', '-o', 'json'];
  const { exitCode, stdout, stderr } = await terminal.snicket(args);

  expect(stderr).toBe(
    'error: red.yaml:1:1: not an object\nhint: set apiVersion, kind and metadata.name\n',
  );
  expect(JSON.parse(stdout)).toMatchObject({ exposures: [{ exposure: 'tenants/blue' }] });
  expect(stdout).toContain('"EdgeRefused"');
  expect(exitCode).toBe(2);
});
