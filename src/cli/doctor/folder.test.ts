import { expect, setDefaultTimeout, test } from 'bun:test';
import { RunLab } from '../../standalone/testing/run-lab.ts';
import { Terminal } from '../testing/snicket.ts';

setDefaultTimeout(60_000);

test('the folder of `snicket run` is examined as a management cluster is', async () => {
  await using lab = new RunLab();
  using terminal = new Terminal();
  const blue = await lab.addTenant('blue');
  await blue.controllers.addNode('worker-1', ['10.0.0.1']);
  await lab.start();
  await lab.untilCondition('blue', 'TenantReady', /^True ProxiesReady/);

  const { exitCode, stdout, stderr } = await terminal.snicket(['doctor', '-f', lab.folder]);

  expect(stderr).toBe('');
  expect(stdout).toStartWith(
    `tenants/blue  tenants-blue.k8s.example.test:${lab.port}  Edge shared (snicket, passthrough)\n`,
  );
  // Nobody's DNS knows the hosts of the lab.
  expect(stdout).toMatch(/^ {2}dns +Fail +Dns/m);
  for (const hop of [
    ...['edge +Pass +EdgeAnswers', 'sni +Pass +RoutedToTenant', 'api +Pass +ApiAnswers'],
    ...['endpoints +Pass +EndpointsAsPlanned', 'proxies +Pass +ProxiesReady'],
  ]) {
    expect(stdout).toMatch(new RegExp(`^ {2}${hop}`, 'm'));
  }
  expect(stdout).toEndWith('\n1 Exposure: 1 Fail, 0 Warn, 6 Pass, 2 Skip\n');
  expect(exitCode).toBe(1);
});

test('a kubeconfig may have the host of the edge with the port of the machine itself', async () => {
  await using lab = new RunLab();
  using terminal = new Terminal();
  const blue = await lab.addTenant('blue');
  const server = `server: https://tenants-blue.k8s.example.test:${blue.port}`;
  const kubeconfig = blue.kubeconfig.replace(/server: .+/, server);
  lab.write('blue/admin.conf', kubeconfig);
  await lab.start();
  await lab.untilCondition('blue', 'TenantReady', /^True/);

  const { stdout } = await terminal.snicket(['doctor', '-f', lab.folder]);

  expect(kubeconfig).toContain(server);
  expect(stdout).toMatch(/^ {2}kubeconfig +Skip/m);
});

test('of a file that is wrong the place is said, and the others are examined', async () => {
  await using lab = new RunLab();
  using terminal = new Terminal();
  await lab.addTenant('blue');
  lab.write('red.yaml', 'kind: Exposure\n');

  const words = ['doctor', '-f', lab.folder, 'tenants/blue', '-o', 'json'];
  const { exitCode, stdout, stderr } = await terminal.snicket(words);

  expect(stderr).toBe('error: red.yaml:1:1: no object; write apiVersion, kind and metadata.name\n');
  expect(JSON.parse(stdout)).toMatchObject({ exposures: [{ exposure: 'tenants/blue' }] });
  expect(stdout).toContain('"EdgeRefused"');
  expect(exitCode).toBe(2);
});
