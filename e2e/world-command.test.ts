/** The command `world/world`, as a person uses it. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { repository } from '../world/machine/host.ts';
import { CommandError, run } from '../world/machine/command.ts';
import { worldIds } from '../world/machine/ledger.ts';
import type { WorldStatus } from '../world/status.ts';

let id: string;

beforeAll(async () => {
  const others = new Set(worldIds());
  const welcome = await world('up', '--tenants=blue', '--proxy-mode=iptables', '--keep');
  id = worldIds().find((one) => !others.has(one))!;
  expect(welcome).toContain(`World ${id} is up after`);
}, 180_000);

afterAll(async () => {
  await world('down', id);
});

test('a kept world outlives the command, and status shows it', async () => {
  const status = await statusOf(id);

  expect(status?.standing).toBe('kept');
  expect(status?.hosts.find(({ name }) => name === 'blue-1')).toMatchObject({
    address: '172.30.101.1',
    running: ['containerd', 'kubelet', 'kube-proxy'],
    ended: [],
  });
  expect(Object.keys(status?.kubeconfigs ?? {})).toEqual(['management', 'blue']);
});

test('kubectl asks the named cluster', async () => {
  const nodes = await world('kubectl', `--world=${id}`, 'blue', 'get', 'nodes', '-o', 'name');

  expect(nodes).toBe('node/blue-1\n');
});

test('exec runs on the named host, and gives its exit code', async () => {
  const hostname = await world('exec', `--world=${id}`, 'blue-1', 'hostname');
  const failing = world('exec', `--world=${id}`, 'blue-1', 'sh', '-c', 'exit 7');

  expect(hostname).toBe('blue-1\n');
  expect(await failing.catch((error: unknown) => (error as CommandError).code)).toBe(7);
});

test('logs lists what there is, and shows it', async () => {
  const names = await world('logs', `--world=${id}`, 'blue');
  const log = await world('logs', `--world=${id}`, 'blue', 'kube-apiserver');

  expect(names.split('\n')).toContain('kube-apiserver');
  expect(log).toContain('Serving securely');
});

test.each([
  [['kubectl', 'red', 'get', 'pods'], "no cluster 'red'; these are: management, blue"],
  [['exec', 'red-1', 'true'], "no host 'red-1'"],
  [['logs', 'blue', 'nginx'], "no log of 'nginx' on blue; these are:"],
  [['up', '--proxy-mode=ipvs'], 'nftables or iptables'],
  [['up', '--tenants=Blue'], "tenant name 'Blue'"],
  [['down', 'none'], "no world 'none'; these are:"],
])('%p is refused with the way out', async (args, message) => {
  const [command = '', ...rest] = args;
  const ofWorld = ['kubectl', 'exec', 'logs'].includes(command) ? [`--world=${id}`] : [];

  const failure = (await world(command, ...ofWorld, ...rest).catch(
    (error: unknown) => error,
  )) as CommandError;

  expect(failure).toBeInstanceOf(CommandError);
  expect(failure.stderr).toContain(message);
});

async function world(...args: string[]): Promise<string> {
  const { stdout } = await run([join(repository, 'world', 'world'), ...args], {
    timeoutMs: 170_000,
  });
  return stdout;
}

async function statusOf(id: string): Promise<WorldStatus | undefined> {
  const statuses = JSON.parse(await world('status', '--output=json')) as WorldStatus[];
  return statuses.find((status) => status.id === id);
}
